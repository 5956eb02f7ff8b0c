package shelltools

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// shownBytes is how much of each stream the rendered text holds.
const shownBytes = 32 << 10

// render is the text a model reads: stdout, stderr under a line of its own, how
// the command ended if that is not exit code 0, and the note.
func (s *Set) render(args, value tools.JSON) ([]tools.Content, error) {
	var in bashIn
	var v bashOut
	if err := args.Unmarshal(&in); err != nil {
		return nil, err
	}
	if err := value.Unmarshal(&v); err != nil {
		return nil, err
	}
	var parts []string
	if v.Stdout != "" {
		parts = append(parts, shown(v.Stdout))
	}
	if v.Stderr != "" {
		parts = append(parts, "stderr:\n"+shown(v.Stderr))
	}
	if len(parts) == 0 {
		parts = append(parts, "(no output)")
	}
	if status := s.status(in, v); status != "" {
		parts = append(parts, status)
	}
	if v.Note != "" {
		parts = append(parts, "("+v.Note+")")
	}
	return []tools.Content{tools.TextContent(strings.Join(parts, "\n"))}, nil
}

func shown(stream string) string {
	return strings.TrimSuffix(shorten(stream, shownBytes), "\n")
}

// status says how a command ended, "" if with exit code 0.
func (s *Set) status(in bashIn, v bashOut) string {
	switch {
	case v.TimedOut:
		return fmt.Sprintf("timed out after %d ms, and everything it started was ended; timeoutMs may be up to %d", s.timeout(in).Milliseconds(), s.opts.MaxTimeout.Milliseconds())
	case v.Signal != "":
		return "ended by signal " + v.Signal
	case v.ExitCode != nil && *v.ExitCode != 0:
		return fmt.Sprintf("exit code %d", *v.ExitCode)
	}
	return ""
}

// presentCall shows the command and where it starts. It looks at no file, so a
// directory is shown as it is written.
func (s *Set) presentCall(args tools.JSON) tools.Card {
	var in bashIn
	if args.Unmarshal(&in) != nil {
		return tools.Card{}
	}
	dir := filepath.FromSlash(in.Workdir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.names[0], dir)
	}
	return tools.Card{
		Type: tools.CardTerminal, Title: in.Description, Action: "execute",
		Description: in.Description, Command: in.Command, Dir: dir,
	}
}

// presentResult adds the output and how the command ended.
func (s *Set) presentResult(args tools.JSON, outcome tools.Final) tools.Card {
	card := s.presentCall(args)
	var in bashIn
	var v bashOut
	if outcome.IsError || args.Unmarshal(&in) != nil || outcome.Value.Unmarshal(&v) != nil {
		card.Output = tools.ContentString(outcome.Content)
		return card
	}
	card.Output, card.ExitCode, card.Signal = v.Stdout, v.ExitCode, v.Signal
	if v.Stderr != "" {
		card.Output = ended(card.Output) + v.Stderr
	}
	if v.TimedOut { // which a card has no field for
		card.Output = ended(card.Output) + s.status(in, v)
	}
	return card
}
