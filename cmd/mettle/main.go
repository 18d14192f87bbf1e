// Command mettle puts MCP documentation servers and Agent Skills to the test.
package main

import (
	"os"

	"github.com/mettle-eval/mettle/internal/cli"
)

func main() { os.Exit(cli.Main(cli.System(os.Args[1:]))) }
