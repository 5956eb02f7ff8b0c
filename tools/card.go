package tools

// Card is what a person is shown of a call: plain data, for any front end to
// draw (DSH's presentation intents). Which fields have a meaning depends on
// Type; the zero Card means the generic one, with the tool's name and arguments.
// It holds no markup, and its texts may hold anything a script or a tool wrote:
// who draws it escapes them.
type Card struct {
	Type  CardType `json:"type"`
	Title string   `json:"title,omitempty"` // empty: the tool's name
	// Action is what the call does, for an icon or a colour: "read", "edit",
	// "delete", "move", "search", "execute", "fetch" or "other".
	Action string `json:"action,omitempty"`

	// Of a generic card.
	Content   []Content  `json:"content,omitempty"`
	Locations []Location `json:"locations,omitempty"` // files it is about

	// Of a terminal card.
	Description string `json:"description,omitempty"`
	Command     string `json:"command,omitempty"`
	Dir         string `json:"dir,omitempty"`
	Output      string `json:"output,omitempty"`
	ExitCode    *int   `json:"exitCode,omitempty"` // nil: not ended, or by Signal
	Signal      string `json:"signal,omitempty"`

	// Of a diff card.
	Diffs []Diff `json:"diffs,omitempty"`

	// Of a search card: matches or, for a search of names, paths.
	Matches   []Match  `json:"matches,omitempty"`
	Paths     []string `json:"paths,omitempty"`
	Total     int      `json:"total,omitempty"` // of what was searched for, shown or not
	Truncated bool     `json:"truncated,omitempty"`

	// Of a read card.
	Path       string `json:"path,omitempty"`
	StartLine  int    `json:"startLine,omitempty"` // of Text, 1-based
	Text       string `json:"text,omitempty"`
	TotalLines int    `json:"totalLines,omitempty"`
}

// CardType says how a Card is drawn.
type CardType string

// The types of cards.
const (
	CardGeneric  CardType = "generic"
	CardTerminal CardType = "terminal"
	CardDiff     CardType = "diff"
	CardSearch   CardType = "search"
	CardRead     CardType = "read"
)

// Location is a place in a file; Line is 1-based, zero for the whole file.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// Diff is the text of one file, or of a part of it, before and after a change.
type Diff struct {
	Path    string `json:"path"`
	Created bool   `json:"created,omitempty"` // there was no file; Old is ""
	// Fragment says that Old and New are a part of the file, in a place that is
	// not known: their lines have no numbers, and their end is not the file's.
	Fragment bool   `json:"fragment,omitempty"`
	Old      string `json:"old"`
	New      string `json:"new"`
}

// Match is one line a search found; Line is 1-based.
type Match struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// PresentCall is the card of a call before it runs. It never panics.
func (t *Tool) PresentCall(args JSON) (card Card) {
	defer generic(&card, t.def.Name)
	if t.def.PresentCall != nil && t.CheckArgs(args) == nil {
		card = t.def.PresentCall(args)
	}
	return card
}

// PresentResult is the card of a call that has settled. It never panics.
func (t *Tool) PresentResult(args JSON, outcome Final) (card Card) {
	defer func() {
		if card.Type == CardGeneric && card.Content == nil {
			card.Content = outcome.Content
		}
	}()
	defer generic(&card, t.def.Name)
	if t.def.PresentResult != nil && t.CheckArgs(args) == nil {
		card = t.def.PresentResult(args, outcome)
	}
	return card
}

// generic makes the generic card of what has none. It is deferred.
func generic(card *Card, tool string) {
	if recover() != nil {
		*card = Card{}
	}
	if card.Type == "" {
		card.Type = CardGeneric
	}
	if card.Title == "" {
		card.Title = tool
	}
}
