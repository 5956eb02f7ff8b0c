package permission

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/internal/jsondoc"
	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/internal/nearest"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// ConfigError says what is wrong with a settings file, and where: its fields are
// File, Line, Column (both from 1, the column in characters) and Problem.
type ConfigError = jsondoc.Error

// Source says where settings come from.
type Source struct {
	// Name stands for the file in reasons, notes and errors.
	Name string
	// Base is the directory that rules with a path /x begin at. Empty: the root
	// of the policy.
	Base string
	// Trusted says that the operator stands behind the settings. The allow rules
	// of others have no effect; see Settings.Grants.
	Trusted bool
}

// Settings is what one settings file says. It is immutable.
type Settings struct {
	source     Source
	path       string // of the file, "" if it was no file
	rules      []rule // of those that allow, only where they count
	grants     []string
	notes      []string
	hooks      tools.JSON
	commands   []string // that the hooks run
	mcpServers tools.JSON
}

// Load is Parse for a file. An empty Source.Name is the path. The file is one
// that no rule opens to writing.
func Load(path string, src Source) (*Settings, error) {
	if src.Name == "" {
		src.Name = path
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("cannot load permissions: %w", err)
	}
	doc, err := jsondoc.Load(abs, src.Name)
	if err != nil {
		return nil, err
	}
	s, err := read(doc, src)
	if err == nil {
		s.path = abs
	}
	return s, err
}

// Parse reads Claude Code settings: an object whose permissions member has the
// lists allow, ask and deny. Within permissions everything must be known: an
// unknown key, a wrong type or a text that is no rule is a *ConfigError, and so
// is a member beside permissions that looks like a misspelling of it. What is
// known and has no effect here is listed by Notes.
func Parse(text string, src Source) (*Settings, error) {
	if src.Name == "" {
		src.Name = "settings"
	}
	doc, err := jsondoc.Parse(src.Name, text)
	if err != nil {
		return nil, err
	}
	return read(doc, src)
}

// Grants lists the allow rules that have no effect because the settings are not
// trusted, as written.
func (s *Settings) Grants() []string { return slices.Clone(s.grants) }

// Notes lists what the file says and what has no effect, or another one than it
// seems, with its place.
func (s *Settings) Notes() []string { return shortened(s.notes) }

// maxNotes is how many notes a person is shown.
const maxNotes = 50

// shortened is a copy of notes, of very many only the first.
func shortened(notes []string) []string {
	if more := len(notes) - maxNotes; more > 0 {
		return append(slices.Clone(notes[:maxNotes]), fmt.Sprintf("%d more like these", more))
	}
	return slices.Clone(notes)
}

// Hooks is the member hooks, an object; zero if there is none.
func (s *Settings) Hooks() tools.JSON { return s.hooks }

// HasHooks reports whether the file has hooks.
func (s *Settings) HasHooks() bool { return !s.hooks.IsZero() && s.hooks.String() != "{}" }

// MCPServers is the member mcpServers, an object; zero if there is none.
func (s *Settings) MCPServers() tools.JSON { return s.mcpServers }

// reader turns a document into Settings. It stops at the first fault.
type reader struct {
	doc   *jsondoc.Document
	out   *Settings
	count int // of rules
}

// maxRules is how many rules one file may have. Each is asked about every file a
// search finds.
const maxRules = 10_000

func read(doc *jsondoc.Document, src Source) (*Settings, error) {
	r := &reader{doc: doc, out: &Settings{source: src}}
	if err := r.settings(); err != nil {
		return nil, err
	}
	return r.out, nil
}

func (r *reader) note(offset int, format string, args ...any) {
	r.out.notes = append(r.out.notes, r.doc.Place(offset)+": "+fmt.Sprintf(format, args...))
}

// misplaced are keys that have a meaning in a member of the settings and none
// beside it.
var misplaced = map[string]string{
	"allow": "permissions", "ask": "permissions", "deny": "permissions", "defaultMode": "permissions",
	"PreToolUse": "hooks", "PostToolUse": "hooks",
}

func (r *reader) settings() error {
	root := r.doc.Root
	if root.Kind != jsonscan.ObjectStart {
		return r.doc.Fault(root.Offset, `settings must be an object {"permissions": ...}, got %s`, root.Described())
	}
	for _, m := range root.Members {
		var err error
		switch m.Name {
		case "permissions":
			err = r.permissions(m.Value)
		case "hooks":
			r.out.hooks, err = r.object(m)
			r.out.commands = commandsIn(m.Value)
		case "mcpServers":
			r.out.mcpServers, err = r.object(m)
		default:
			err = r.other(m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) object(m jsondoc.Member) (tools.JSON, error) {
	if m.Value.Kind != jsonscan.ObjectStart {
		return tools.JSON{}, r.doc.Fault(m.Value.Offset, "%s must be an object, got %s", m.Name, m.Value.Described())
	}
	return r.doc.JSON(m.Value), nil
}

// other judges a member of the settings that is none of ours.
func (r *reader) other(m jsondoc.Member) error {
	if slices.Contains(settingsKeys, m.Name) {
		return nil
	}
	if in := misplaced[m.Name]; in != "" {
		return r.doc.Fault(m.Offset, "%s stands beside %s and would have no effect; move it into %s", m.Name, in, in)
	}
	for _, near := range nearest.Names(m.Name, []string{"permissions", "hooks", "mcpServers"}, 1) {
		if far := utf8.RuneCountInString(m.Name) - len(near); -2 <= far && far <= 2 {
			return r.doc.Fault(m.Offset, "unknown key %q; did you mean %s?", m.Name, near)
		}
	}
	r.note(m.Offset, "ignored the unknown key %q", m.Name)
	return nil
}

// ignoredKeys are the members of permissions that have no effect here, with
// what happens instead.
var ignoredKeys = map[string]string{
	"defaultMode":                  "what no rule decides is asked about if it changes something",
	"additionalDirectories":        "the tools stay below their root",
	"disableBypassPermissionsMode": "nothing bypasses the rules",
	"disableAutoMode":              "nothing but rules and people allow a call",
}

var permissionKeys = []string{"allow", "ask", "deny", "defaultMode", "additionalDirectories", "disableBypassPermissionsMode", "disableAutoMode"}

func (r *reader) permissions(n jsondoc.Node) error {
	if n.Kind != jsonscan.ObjectStart {
		return r.doc.Fault(n.Offset, "permissions must be an object with the lists allow, ask and deny, got %s", n.Described())
	}
	for _, m := range n.Members {
		var err error
		switch m.Name {
		case "allow":
			err = r.rules(m, pipeline.VerdictAllow)
		case "ask":
			err = r.rules(m, pipeline.VerdictAsk)
		case "deny":
			err = r.rules(m, pipeline.VerdictDeny)
		default:
			err = r.ignored(m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) ignored(m jsondoc.Member) error {
	instead, known := ignoredKeys[m.Name]
	if !known {
		hint := "known are " + strings.Join(permissionKeys, ", ")
		if near := nearest.Names(m.Name, permissionKeys, 1); near != nil {
			hint = fmt.Sprintf("did you mean %s?", near[0])
		}
		return r.doc.Fault(m.Offset, "unknown key %q in permissions; %s", m.Name, hint)
	}
	if m.Name == "additionalDirectories" {
		if err := r.strings(m, func(jsondoc.Node, string) error { return nil }); err != nil {
			return err
		}
	} else if m.Value.Kind != jsonscan.String {
		return r.doc.Fault(m.Value.Offset, "%s must be a string, got %s", m.Name, m.Value.Described())
	}
	r.note(m.Offset, "ignored %s: %s", m.Name, instead)
	return nil
}

// strings gives the elements of a list of strings to take.
func (r *reader) strings(m jsondoc.Member, take func(n jsondoc.Node, text string) error) error {
	if m.Value.Kind != jsonscan.ArrayStart {
		return r.doc.Fault(m.Value.Offset, "%s must be an array of strings, got %s", m.Name, m.Value.Described())
	}
	for _, item := range m.Value.Items {
		text, ok := item.Text()
		if !ok {
			return r.doc.Fault(item.Offset, "%s must hold strings only, got %s", m.Name, item.Described())
		}
		if err := take(item, text); err != nil {
			return err
		}
	}
	return nil
}

// rules reads one list. What a rule means may be more than it can say: then a
// denial widens and a permission is dropped.
func (r *reader) rules(m jsondoc.Member, verdict pipeline.Verdict) error {
	return r.strings(m, func(n jsondoc.Node, text string) error {
		if r.count++; r.count > maxRules {
			return r.doc.Fault(n.Offset, "the lists hold more than %d rules; name directories instead of files", maxRules)
		}
		f, err := parseForm(text)
		if err != nil {
			return r.doc.Fault(n.Offset, "%v", err)
		}
		if verdict == pipeline.VerdictAllow && !r.out.source.Trusted {
			r.out.grants = append(r.out.grants, text)
			return nil
		}
		rule, problem := newRule(f, verdict)
		rule.text, rule.file, rule.place = text, r.out.source.Name, r.doc.Place(n.Offset)
		switch {
		case problem == nil:
		case verdict == pipeline.VerdictAllow:
			r.note(n.Offset, "ignored the rule %s: %v", text, problem)
			return nil
		default:
			r.note(n.Offset, "the rule %s covers every use of %s: %v", text, rule.name, problem)
		}
		r.out.rules = append(r.out.rules, rule)
		return nil
	})
}

// settingsKeys are the members of settings Claude Code knows and rules have
// nothing to do with.
var settingsKeys = []string{
	"$schema", "agent", "allowManagedHooksOnly", "allowManagedMcpServersOnly", "allowManagedPermissionRulesOnly",
	"allowedHttpHookUrls", "allowedMcpServers", "alwaysThinkingEnabled", "apiKeyHelper", "attribution", "autoMemoryEnabled",
	"autoMode", "autoUpdates", "autoUpdatesChannel", "availableModels", "awsAuthRefresh", "awsCredentialExport",
	"blockedMarketplaces", "channelsEnabled", "claudeMdExcludes", "cleanupPeriodDays", "companyAnnouncements", "deniedMcpServers",
	"disableAllHooks", "disabledMcpjsonServers", "effortLevel", "enableAllProjectMcpServers", "enabledMcpjsonServers",
	"enabledPlugins", "env", "extraKnownMarketplaces", "fastMode", "feedbackSurveyRate", "fileSuggestion", "forceLoginMethod",
	"forceLoginOrgUUID", "gcpAuthRefresh", "httpHookAllowedEnvVars", "includeCoAuthoredBy", "includeGitInstructions", "language",
	"model", "modelOverrides", "otelHeadersHelper", "outputStyle", "plansDirectory", "pluginConfigs", "prefersReducedMotion",
	"respectGitignore", "sandbox", "showThinkingSummaries", "showTurnDuration", "skipDangerousModePermissionPrompt",
	"skipWebFetchPreflight", "skippedMarketplaces", "skippedPlugins", "spinnerTipsEnabled", "spinnerTipsOverride", "spinnerVerbs",
	"statusLine", "strictKnownMarketplaces", "teammateMode", "terminalProgressBarEnabled", "theme", "voiceEnabled", "worktree",
}
