package lint

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/skill"
)

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

func itoa(n int) string { return strconv.Itoa(n) }

var toolList = Rule{
	ID: "tool-list", Family: "tool", Severity: Warning, Fixes: true,
	Doc:     "allowed-tools is a list or has commas.",
	Explain: "The specification wants one string with spaces between the tools: Bash(git:*) Read. Some clients take lists and commas too, others take the whole for one tool.",
	check: func(p *pass) {
		f, ok := p.Frontmatter.Get("allowed-tools")
		if !ok || f.Text() == "" && f.Kind() != "list" && f.Kind() != "map" {
			return
		}
		names := toolNames(f)
		switch {
		case f.Kind() == "map":
			p.key(f, nil, "allowed-tools is a map, want a string with spaces between the tools")
		case f.Kind() == "list":
			p.key(f, p.rewriteTools(f, names), "allowed-tools is a list, want a string with spaces between the tools")
		case strings.Contains(dropArguments(f.Text()), ","):
			p.key(f, p.rewriteTools(f, names), "allowed-tools has commas, want spaces between the tools")
		}
	},
}

// rewriteTools writes the tools as the specification wants. Not when comments or an alias would be lost.
func (p *pass) rewriteTools(f *skill.Field, names []string) *Fix {
	end := f.ValueEnd
	colon := strings.IndexByte(p.Text[f.KeyStart:max(end, f.KeyStart)], ':')
	if f.Node.Kind == yaml.AliasNode || colon < 0 || len(names) == 0 || strings.Contains(p.Text[f.KeyStart:end], "#") {
		return nil
	}
	value := strings.Join(names, " ")
	if strings.Contains(value, ": ") || strings.ContainsAny(value[:1], "*&!|>'\"%@`[{") {
		value = skill.SingleQuoted(value)
	}
	return replace(f.KeyStart+colon+1, end, " "+value, "write the tools as one string")
}

// toolNames reads the tools of any way of writing them.
func toolNames(f *skill.Field) []string {
	n := skill.Resolve(f.Node)
	if n.Kind == yaml.SequenceNode {
		var names []string
		for _, c := range n.Content {
			names = append(names, strings.TrimSpace(skill.Resolve(c).Value))
		}
		return names
	}
	depth := 0
	return strings.FieldsFunc(f.Text(), func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth <= 0 && (r == ',' || unicode.IsSpace(r))
	})
}

// dropArguments leaves out what stands in parentheses.
func dropArguments(s string) string {
	depth := 0
	return strings.Map(func(r rune) rune {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth <= 0:
			return r
		}
		return -1
	}, s)
}

// claudeTools are the tools that Claude Code has or had: old names are still understood.
var claudeTools = []string{
	"Agent", "Artifact", "AskUserQuestion", "Bash", "BashOutput", "CronCreate", "CronDelete", "CronList", "Edit", "EnterPlanMode", "EnterWorktree",
	"ExitPlanMode", "ExitWorktree", "Glob", "Grep", "KillBash", "KillShell", "LS", "LSP", "ListMcpResourcesTool", "Monitor", "MultiEdit", "NotebookEdit",
	"NotebookRead", "PowerShell", "PushNotification", "REPL", "Read", "ReadMcpResourceTool", "RemoteTrigger", "ScheduleWakeup", "SendMessage", "SendUserFile",
	"Skill", "Sleep", "SlashCommand", "StructuredOutput", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TeamCreate",
	"TeamDelete", "TodoRead", "TodoWrite", "ToolSearch", "WaitForMcpServers", "WebFetch", "WebSearch", "Workflow", "Write",
}

var toolUnknown = Rule{
	ID: "tool-unknown", Family: "tool", Severity: Warning, Profiles: []string{ClaudeCode},
	Doc:     "allowed-tools names a tool that Claude Code does not have.",
	Explain: "A misspelt tool is not allowed, and the user is asked each time. Tools of MCP servers begin with mcp__.",
	check: func(p *pass) {
		f, ok := p.Frontmatter.Get("allowed-tools")
		if !ok {
			return
		}
		for _, t := range toolNames(f) {
			name, _, _ := strings.Cut(t, "(")
			if name == "" || name == "*" || strings.HasPrefix(name, "mcp__") || slices.Contains(claudeTools, name) {
				continue
			}
			p.field(f, nil, "Claude Code has no tool %q%s", skill.Shorten(name, 40), didYouMean(name, claudeTools))
		}
	},
}

var toolUnscoped = Rule{
	ID: "tool-unscoped", Family: "tool", Severity: Warning, Profiles: []string{ClaudeCode, Strict},
	Doc:     "allowed-tools allows every shell command.",
	Explain: "A bare Bash lets the skill run any command without asking. Name the commands: Bash(git:*) Bash(npm test).",
	check: func(p *pass) {
		f, ok := p.Frontmatter.Get("allowed-tools")
		if !ok {
			return
		}
		for _, t := range toolNames(f) {
			if t == "Bash" || t == "Bash(*)" || t == "Bash(*:*)" {
				p.field(f, nil, "%s allows every shell command; name the commands", t)
			}
		}
	},
}
