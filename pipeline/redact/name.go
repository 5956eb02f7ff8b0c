package redact

import (
	"slices"
	"strings"
)

// stems are in every name that says that its value is secret, but for those an
// embedder adds.
var stems = []string{"pass", "secret", "token", "key", "auth", "cookie", "cred", "jwt", "bearer"}

// stemBegins are the first bytes of stems.
var stemBegins = func() (begins [256]bool) {
	for _, stem := range stems {
		begins[stem[0]] = true
	}
	return begins
}()

// secretWords end the names of secrets, alone or grown together with the words
// before them.
var secretWords = []string{
	"password", "passwords", "passwd", "passphrase", "secret", "secrets",
	"authorization", "cookie", "cookies", "credential", "credentials", "jwt", "bearer",
}

// secretKeys stand before "key" in the name of one that is secret; others name
// the members of a map or the columns of a table.
var secretKeys = []string{
	"api", "access", "secret", "private", "auth", "encryption", "signing", "account", "master", "subscription", "service", "license",
}

// plainTokens stand before "token" in names of what is no secret: a place in a
// list of pages, or a piece of a language model's text.
var plainTokens = []string{
	"page", "next", "prev", "previous", "continuation", "cursor", "sync", "pagination", "cancellation", "cancel",
	"resume", "resumption", "delta", "skip", "scroll", "forward", "backward", "offset", "iterator", "marker", "change", "watch", "checkpoint",
	"start", "end", "stop", "eos", "bos", "pad", "unk", "mask", "sep", "cls", "special", "max", "min", "last", "first", "current", "per",
	"input", "output", "prompt", "completion", "total", "idempotency", "concurrency", "design", "color", "colour", "text",
}

// secretName reports whether a member of that name holds a secret.
func (r *Redactor) secretName(name string) bool {
	if len(name) > 128 || strings.Contains(name, markStart) || strings.Contains(name, anonymous) {
		return false
	}
	if len(r.names) > 0 && r.names[flat(name)] {
		return true
	}
	if !hasStem(name) {
		return false
	}
	all := words(name)
	if len(all) == 0 {
		return false
	}
	last, before := all[len(all)-1], ""
	if len(all) > 1 {
		before = all[len(all)-2]
	}
	switch last {
	case "hash", "confirmation", "confirm", "again", "repeat":
		return isSecretWord(before)
	}
	if grown, ok := strings.CutSuffix(last, "token"); ok {
		if grown == "" {
			grown = before
		}
		return !slices.Contains(plainTokens, grown) && !strings.HasSuffix(grown, "page")
	}
	if grown, ok := strings.CutSuffix(last, "key"); ok {
		if grown == "" {
			grown = before
		}
		return endsIn(grown, secretKeys)
	}
	return isSecretWord(last)
}

func isSecretWord(word string) bool { return endsIn(word, secretWords) }

func endsIn(word string, ends []string) bool {
	for _, end := range ends {
		if strings.HasSuffix(word, end) {
			return true
		}
	}
	return false
}

// hasStem saves most names from being taken apart.
func hasStem(name string) bool {
	for i := range len(name) {
		if !stemBegins[name[i]|0x20] {
			continue
		}
		for _, stem := range stems {
			if name[i]|0x20 == stem[0] && hasFold(name[i:], stem) {
				return true
			}
		}
	}
	return false
}

// words takes a name apart, where its case changes and at what is neither letter
// nor digit: "APIKey", "api_key" and "api-key" are "api" and "key". Digits at the
// end are dropped.
func words(name string) []string {
	var all []string
	begin := 0
	flush := func(end int) {
		if word := name[begin:end]; word != "" {
			all = append(all, strings.ToLower(word))
		}
	}
	name = strings.TrimRight(name, "0123456789_- .")
	for i := range len(name) {
		switch c := name[i]; {
		case !isAlnum(c):
			flush(i)
			begin = i + 1
		case i > begin && isUpper(c) && (!isUpper(name[i-1]) || i+1 < len(name) && isLower(name[i+1])):
			flush(i)
			begin = i
		}
	}
	flush(len(name))
	return all
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

// flat is a name in small letters without what separates its words.
func flat(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(name))
}
