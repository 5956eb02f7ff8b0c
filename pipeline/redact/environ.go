package redact

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// minVariable is the length below which a variable's value is not taken for a
// secret.
const minVariable = 8

var (
	// These words are in the names of secrets, and of little else.
	secretVariables = []string{"SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS"}
	// These are in the names of settings too, so the value must look the part.
	maybeVariables = []string{"KEY", "APIKEY", "TOKEN", "AUTH", "PAT", "JWT"}
	// What these end is about a secret and is none.
	plainVariables = []string{"SOCK", "FILE", "PATH", "DIR", "HOME", "TYPE", "METHOD", "TTL", "TIMEOUT", "NAME", "HOST", "PORT", "MODE", "ENABLED"}
	// These protect nothing, and to replace them would make texts unreadable.
	plainValues = []string{"password", "postgres", "rabbitmq", "changeme", "disabled", "required", "optional", "undefined", "anonymous", "development", "production"}

	pathValue = regexp.MustCompile(`^(~|\.{1,2})?[/\\]|^[A-Za-z]:[/\\]`)
	pathStart = regexp.MustCompile(`^/[A-Za-z]?[a-z]+(/|$)`)
)

// FromEnviron is Options with the values of the variables that hold secrets, as
// their names tell: those with one of the words SECRET, PASSWORD, CREDENTIAL and
// the like, and KEY, TOKEN or AUTH where the value looks like one; and the
// passwords in variables that hold a URL. Left out are values shorter than eight
// bytes, paths, and words such as "changeme" that protect nothing. The entries have the form NAME=value, as os.Environ
// returns them.
func FromEnviron(environ []string) *Options {
	var secrets []Secret
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if password := urlPassword(value); password != "" {
			value = password
		} else if !holdsSecret(name, value) {
			continue
		}
		if len(value) >= minVariable && !slices.Contains(plainValues, strings.ToLower(value)) {
			secrets = append(secrets, Secret{Name: name, Value: value})
		}
	}
	// Two variables may hold the same; which name is shown must not depend on
	// their order.
	slices.SortStableFunc(secrets, func(a, b Secret) int { return strings.Compare(a.Name, b.Name) })
	return &Options{Secrets: secrets}
}

func urlPassword(value string) string {
	if !strings.Contains(value, "://") {
		return ""
	}
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return ""
	}
	password, _ := u.User.Password()
	return password
}

func holdsSecret(name, value string) bool {
	if strings.Contains(value, "://") || isPath(value) {
		return false
	}
	words := strings.Split(strings.ToUpper(name), "_")
	if slices.Contains(plainVariables, words[len(words)-1]) {
		return false
	}
	hasAny := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	return hasAny(secretVariables) || hasAny(maybeVariables) && looksRandom(value)
}

// isPath tells a path from a secret that happens to begin with a slash.
func isPath(value string) bool {
	return pathValue.MatchString(value) && (value[0] != '/' || strings.Contains(value, ".") || pathStart.MatchString(value))
}

// looksRandom reports whether a value is no word, number or sentence.
func looksRandom(value string) bool {
	if strings.ContainsAny(value, " \t") {
		return strings.Contains(value, "PRIVATE KEY")
	}
	letters := strings.Trim(value, "0123456789") != ""
	return letters && (len(value) >= 20 || strings.ContainsAny(value, "0123456789"))
}
