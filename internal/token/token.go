// Package token mints the identities of tool executions.
//
// A token can be compared and nothing else: it has no text form, cannot be
// parsed, and two mints never yield equal tokens, so holding one proves that
// somebody who had it handed it over.
package token

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

// GoString is String, so that %#v prints no address either.
func (t Token) GoString() string { return t.String() }

// Format-free marshalling: a token serialises as null in every codec that
// asks for text, which keeps it out of logs by construction.
func (t Token) MarshalJSON() ([]byte, error) { return []byte("null"), nil }
