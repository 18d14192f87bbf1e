package skill

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Load reads a skill file together with the folder around it.
func Load(path string) (*Document, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read skill: %w", err)
	}
	if err := loadable(path, info); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read skill: %w", err)
	}
	d := Parse(filepath.ToSlash(path), data)
	d.Folder = os.DirFS(filepath.Dir(path))
	if abs, err := filepath.Abs(path); err == nil {
		d.Folders = [2]string{filepath.Base(filepath.Dir(abs)), filepath.Base(filepath.Dir(filepath.Dir(abs)))}
	}
	return d, nil
}

// LoadFS reads a skill file of a file system, such as one built into the program, together with the folder around it.
// The names of the folders are those of the path: at the top of the file system none is known.
func LoadFS(fsys fs.FS, file string) (*Document, error) {
	info, err := fs.Stat(fsys, file)
	if err != nil {
		return nil, fmt.Errorf("read skill: %w", err)
	}
	if err := loadable(file, info); err != nil {
		return nil, err
	}
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, fmt.Errorf("read skill: %w", err)
	}
	folder, err := fs.Sub(fsys, path.Dir(file))
	if err != nil {
		return nil, fmt.Errorf("read skill: %w", err)
	}
	d := Parse(file, data)
	d.Folder = folder
	return d, nil
}

// loadable says why a file is not read.
func loadable(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("read skill %s: not a file", path)
	}
	if info.Size() > maxFile {
		return fmt.Errorf("read skill %s: %d MB is more than the %d MB a skill file may have", path, info.Size()>>20, maxFile>>20)
	}
	return nil
}
