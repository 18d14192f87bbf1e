package lint

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
)

// evalFiles are the places where known tools keep the evaluations of a skill.
var evalFiles = []string{"evals/evals.json", "evals.json", "eval.yaml", "evals/eval.yaml", "tests/eval.yaml", "evals", "tests"}

var evalsFormat = Rule{
	ID: "evals-format", Family: "evals", Severity: Warning,
	Doc:     "evals/evals.json cannot be used.",
	Explain: "The file is an object with evals, a list of objects with a prompt each.",
	check: func(p *pass) {
		if _, err := p.evals(); err != nil {
			p.file(nil, "evals/evals.json: %v", err)
		}
	},
}

type evalFile struct {
	SkillName string `json:"skill_name"`
	Evals     []struct {
		Prompt string `json:"prompt"`
	} `json:"evals"`
}

// evals reads the evaluations of a skill; nil when there is no such file, or none to read.
func (p *pass) evals() (*evalFile, error) {
	if p.Folder == nil {
		return nil, nil
	}
	data, _ := readBounded(p.Folder, "evals/evals.json")
	if data == nil {
		return nil, nil
	}
	file := new(evalFile)
	if err := json.Unmarshal(data, file); err != nil {
		return nil, err
	}
	if len(file.Evals) == 0 {
		return nil, errNoEvals
	}
	return file, nil
}

var errNoEvals = errors.New("no evals in it")

var evalsMissing = Rule{
	ID: "evals-missing", Family: "evals", Severity: Info, Profiles: []string{Strict},
	Doc:     "The skill has no evaluations.",
	Explain: "Without them nobody knows whether the skill helps, or still does after a change. Put prompts and expectations into evals/evals.json.",
	check: func(p *pass) {
		if p.Folder == nil {
			return
		}
		for _, f := range evalFiles {
			if _, err := fs.Stat(p.Folder, f); err == nil {
				return
			}
		}
		p.file(nil, "the skill has no evaluations (evals/evals.json)")
	},
}

var evalsNameSkill = Rule{
	ID: "evals-name-skill", Family: "evals", Severity: Warning, Profiles: []string{Strict},
	Doc:     "A prompt of the evaluations names the skill.",
	Explain: "Such a prompt gives the answer to whether the skill would be found, and makes the run without it look worse than it is.",
	check: func(p *pass) {
		file, err := p.evals()
		name := p.Name()
		if err != nil || file == nil || !strings.Contains(name, "-") {
			return
		}
		for i, e := range file.Evals {
			if strings.Contains(strings.ToLower(e.Prompt), name) {
				p.file(nil, "evals/evals.json: prompt %d names the skill", i+1)
			}
		}
	},
}
