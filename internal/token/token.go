// Package token mints the identities of tool executions.
//
// A token can be compared and nothing else: it has no text form, cannot be
// parsed, and two mints never yield equal tokens, so holding one proves that
// somebody who had it handed it over.
package token

import (
	"fmt"
	"io"
)

// Token identifies one live or past execution. The zero Token means "none".
// Tokens are comparable and safe for concurrent use.
type Token struct{ id *mark }

// mark has a size, so that every allocation has an address of its own.
type mark struct{ _ byte }

// New mints a token that equals no other.
func New() Token { return Token{id: new(mark)} }

// IsZero reports whether t identifies no execution.
func (t Token) IsZero() bool { return t.id == nil }

// String hides the identity: a token must never reach a log in a form that
// could be compared or handed back.
func (t Token) String() string {
	if t.id == nil {
		return "token(none)"
	}
	return "token(opaque)"
}

// Format prints String for every verb: %d or %x of the struct would print the
// address.
func (t Token) Format(f fmt.State, _ rune) { io.WriteString(f, t.String()) }

// MarshalJSON writes null, which keeps tokens out of logs and documents by
// construction.
func (t Token) MarshalJSON() ([]byte, error) { return []byte("null"), nil }
