package bench

import (
	"fmt"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// Encoding is the tokenizer of all counts. It is OpenAI's; other models count
// the same text differently, so ratios travel further than numbers.
const Encoding = "o200k_base"

// Counting says how tokens are counted, in words for a report.
const Counting = "Input: the text of every message in each request, not its JSON, with 4 tokens for what an API puts around it, likewise the name and arguments of every call in it, " +
	"and the JSON of every tool definition; output: the text of an answer, and the names and arguments of its calls"

// Amount is the size of a text.
type Amount struct {
	Tokens int `json:"tokens"` // of Encoding
	Bytes  int `json:"bytes"`
}

// Quarter is bytes/4, the estimate that needs no tokenizer.
func (a Amount) Quarter() int { return (a.Bytes + 3) / 4 }

func (a Amount) plus(b Amount) Amount { return Amount{a.Tokens + b.Tokens, a.Bytes + b.Bytes} }

// counter counts tokens and remembers what it has counted: a conversation is
// sent again with every request. It is safe for concurrent use.
type counter struct {
	codec tokenizer.Codec

	mu    sync.Mutex
	known map[string]int
}

func newCounter() (*counter, error) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return nil, fmt.Errorf("cannot open the tokenizer %s: %w", Encoding, err)
	}
	return &counter{codec: codec, known: map[string]int{}}, nil
}

func (c *counter) count(text string) (Amount, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.known[text]
	if !ok {
		var err error
		if n, err = c.codec.Count(text); err != nil {
			return Amount{}, fmt.Errorf("cannot count tokens: %w", err)
		}
		c.known[text] = n
	}
	return Amount{n, len(text)}, nil
}
