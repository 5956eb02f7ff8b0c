package bindings

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"unicode"

	"github.com/runcode-go/runcode/internal/nearest"
)

// The bounds of a search.
const (
	defaultMatches = 8        // where no limit is given
	maxMatches     = 50       // whatever limit is given
	maxQuery       = 1_000    // bytes of a query that are read
	maxQueryWords  = 16       // different words of it that are looked for
	maxDeclaration = 8 << 10  // bytes of a declaration that is quoted
	maxQuoted      = 32 << 10 // bytes of all of them together
)

// Found is what a search found.
type Found struct {
	Matches []Match `json:"matches"`        // best first, never nil
	Total   int     `json:"total"`          // how many tools match, with those left out
	Note    string  `json:"note,omitempty"` // what was left out, and how to see it
}

// Match is one tool of a catalog.
type Match struct {
	Name string `json:"name"` // the exact name
	Call string `json:"call"` // how a program writes it: tools.github.search
	// Declaration is the tool as Declarations writes it, with the named types it
	// needs. In a search it is empty where a note says so, and a type stands in
	// the first declaration alone that needs it.
	Declaration string `json:"declaration,omitempty"`
}

// Search finds tools by the words of their names, descriptions and argument
// names, best first: a word counts for more in a name than in a description, and
// for more the fewer tools have it; the beginning of a word counts half. Equal
// tools keep the order of Names, and so do all of them for a query without
// words. A query that is a tool's name, but for case and separators, finds that
// tool first.
//
// The answer is bounded whatever the query and the tools: limit is at most 50,
// zero and less mean 8, and what is left out for its length is noted.
func (c *Catalog) Search(query string, limit int) Found {
	words, notes := queryWords(query)
	ranked := c.rank(words, strings.TrimSpace(query))
	if limit <= 0 {
		limit = defaultMatches
	}
	limit = min(limit, maxMatches, len(ranked))
	found := Found{Matches: make([]Match, limit), Total: len(ranked)}
	seen := map[*namedType]bool{}
	quoted, bare := 0, 0
	for i, tool := range ranked[:limit] {
		found.Matches[i] = c.match(tool)
		now := maps.Clone(seen)
		text := c.pieces.alone(tool, now)
		if quoted+len(text) > maxQuoted || len(text) > maxDeclaration {
			bare++
			continue
		}
		seen = now
		quoted += len(text)
		found.Matches[i].Declaration = text
	}
	if bare > 0 {
		notes = append(notes, fmt.Sprintf("declarations left out as too long: %d; %s.describe(name) has them", bare, SearchGlobal))
	}
	if rest := len(ranked) - limit; rest > 0 {
		notes = append(notes, fmt.Sprintf("more tools that match: %d; use more words, or {query, limit} with a limit up to %d", rest, maxMatches))
	}
	found.Note = strings.Join(notes, ". ")
	return found
}

// Describe is one tool with its whole declaration, however long. The name is the
// exact one or what a program writes: "mcp__github__search",
// "tools.github.search" or "github.search". The error for another name says
// which ones look like it.
func (c *Catalog) Describe(name string) (Match, error) {
	i := slices.Index(c.names, name)
	if i < 0 {
		i = slices.IndexFunc(c.names, func(n string) bool {
			call := c.spelled(n)
			return call == name || strings.TrimPrefix(call, Global+".") == name
		})
	}
	if i < 0 {
		return Match{}, c.unknown(name)
	}
	m := c.match(i)
	m.Declaration = c.pieces.alone(i, map[*namedType]bool{})
	return m, nil
}

func (c *Catalog) unknown(name string) error {
	if near := nearest.Names(name, c.names, 3); len(near) > 0 {
		for i := range near {
			near[i] = quoteName(near[i])
		}
		return fmt.Errorf("no tool is named %.100q; did you mean %s?", name, strings.Join(near, ", "))
	}
	return fmt.Errorf("no tool is named %.100q; %s.search(query) finds tools by words", name, SearchGlobal)
}

func (c *Catalog) match(tool int) Match {
	return Match{Name: c.names[tool], Call: c.spelled(c.names[tool])}
}

// What a word counts, by where it stands. A beginning counts half.
const (
	inName        = 12
	inArgument    = 6
	inDescription = 4
	wholeName     = 1 << 20 // the query is the tool's name, more or less
)

// rank lists the tools that have any of the words, best first.
func (c *Catalog) rank(words []string, query string) []int {
	scores := make([]int, len(c.names))
	hits := make([]int, len(c.names))
	for _, word := range words {
		count := 0
		for i := range c.names {
			hits[i] = c.pieces.tools[i].terms.weigh(word)
			count += min(hits[i], 1)
		}
		for i, hit := range hits {
			if hit > 0 {
				scores[i] += hit * (1 + bits.Len(uint(len(c.names)/count)))
			}
		}
	}
	var ranked []int
	spelling := letters(query[:min(len(query), maxQuery)])
	for i, name := range c.names {
		switch {
		case name == query || c.spelled(name) == query:
			scores[i] = 2 * wholeName
		case spelling != "" && spelling == letters(c.ownName(name)):
			scores[i] = wholeName
		}
		if scores[i] > 0 || len(words) == 0 {
			ranked = append(ranked, i)
		}
	}
	slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return ranked
}

// ownName is a tool's name without that of its server.
func (c *Catalog) ownName(name string) string {
	if path := c.paths[name]; path != nil {
		return path[1]
	}
	return name
}

// terms are the words of one tool with what they count.
type terms map[string]int

func (t terms) add(text string, weight int) {
	for _, word := range splitWords(text) {
		t[word] = max(t[word], weight)
	}
}

// weigh is what a word counts for the tool.
func (t terms) weigh(word string) int {
	best := t[word]
	if len(word) < 3 {
		return best
	}
	for term, weight := range t {
		if weight/2 > best && strings.HasPrefix(term, word) {
			best = weight / 2
		}
	}
	return best
}

// terms are the words a tool is found by, from the side of its arguments.
func (s *side) terms() terms {
	t := terms{}
	t.add(s.description, inDescription)
	if s.conv != nil {
		for n := range s.conv.arrivals {
			if properties := n.object("properties"); properties != nil {
				for _, name := range properties.names {
					t.add(name, inArgument)
				}
			}
		}
	}
	server, name, ok := splitServer(s.tool)
	if !ok {
		name = s.tool
	}
	t.add(server, inName)
	t.add(name, inName)
	t[strings.Join(splitWords(name), "")] = inName // as one word
	return t
}

// queryWords are the different words of a query, and notes on what of it is not
// used. Single letters and digits count where there is nothing else.
func queryWords(query string) (words, notes []string) {
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
		notes = append(notes, fmt.Sprintf("only the first %d bytes of the query were read", maxQuery))
	}
	var letters []string
	for _, word := range splitWords(query) {
		into := &words
		if len(word) == 1 {
			into = &letters
		}
		if !slices.Contains(*into, word) {
			*into = append(*into, word)
		}
	}
	if len(words) == 0 {
		words = letters
	}
	if len(words) > maxQueryWords {
		words = words[:maxQueryWords]
		notes = append(notes, fmt.Sprintf("only the first %d words of the query were looked for", maxQueryWords))
	}
	return words, notes
}

// splitWords takes names and sentences apart: at everything but letters and
// digits, and where a capital follows a small letter. Words are in lower case
// and without the s of a plural.
func splitWords(text string) []string {
	var words []string
	start := -1
	end := func(at int) {
		if start >= 0 {
			words = append(words, singular(strings.ToLower(text[start:at])))
		}
		start = -1
	}
	small := false
	for i, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end(i)
			continue
		}
		if small && unicode.IsUpper(r) {
			end(i)
		}
		if start < 0 {
			start = i
		}
		small = unicode.IsLower(r)
	}
	end(len(text))
	return words
}

func singular(word string) string {
	if len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
		return word[:len(word)-1]
	}
	return word
}
