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
	// These end words in the names of secrets, as in PGPASSWORD, and of little
	// else.
	secretVariables = []string{"SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "SSHPASS", "CREDENTIAL", "CREDENTIALS", "AUTHTOKEN"}
	// These are words in the names of settings too, so the value must look the
	// part.
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

// urlPassword is the password of a URL as a program would use it. Connection
// strings are no proper URLs always: they name several hosts, or hold a password
// that should have been escaped.
func urlPassword(value string) string {
	_, rest, ok := strings.Cut(value, "://")
	if !ok {
		return ""
	}
	if u, err := url.Parse(value); err == nil {
		password, _ := u.User.Password()
		return password
	}
	end := strings.LastIndexByte(rest, '@')
	if end < 0 {
		return ""
	}
	_, password, _ := strings.Cut(rest[:end], ":")
	if strings.Contains(password, "/") && strings.Contains(password, ":") {
		return "" // another URL, behind the port of this one
	}
	if plain, err := url.PathUnescape(password); err == nil {
		return plain
	}
	return password
}

func holdsSecret(name, value string) bool {
	if strings.Contains(value, "://") || isPath(value) {
		return false
	}
	words := strings.Split(strings.ToUpper(name), "_")
	last := len(words) - 1
	switch {
	case slices.Contains(plainVariables, words[last]):
		return false
	case last > 0 && words[last] == "PWD": // MYSQL_PWD; alone it is a directory
		return true
	case slices.ContainsFunc(words, func(w string) bool { return endsIn(w, secretVariables) }):
		return true
	}
	return looksRandom(value) && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(maybeVariables, w) })
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
