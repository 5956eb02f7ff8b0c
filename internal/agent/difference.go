package agent

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// difference says where two values differ first, "" if they are equal. Members of
// objects may come in any order.
func difference(at string, want, got tools.JSON) string {
	if want == got {
		return ""
	}
	switch {
	case want.Kind() == '{' && got.Kind() == '{':
		a, b := map[string]tools.JSON{}, map[string]tools.JSON{}
		if want.Unmarshal(&a) != nil || got.Unmarshal(&b) != nil {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(union(a, b))) {
			if diff := difference(at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), a[name], b[name]); diff != "" {
				return diff
			}
		}
		return ""
	case want.Kind() == '[' && got.Kind() == '[':
		var a, b []tools.JSON
		if want.Unmarshal(&a) != nil || got.Unmarshal(&b) != nil {
			break
		}
		for i := range max(len(a), len(b)) {
			if diff := difference(at+"/"+strconv.Itoa(i), element(a, i), element(b, i)); diff != "" {
				return diff
			}
		}
		return ""
	}
	return fmt.Sprintf("%s was %s and is %s", orRoot(at), shown(want, got), shown(got, want))
}

func union(a, b map[string]tools.JSON) map[string]tools.JSON {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func element(list []tools.JSON, i int) tools.JSON {
	if i < len(list) {
		return list[i]
	}
	return tools.JSON{}
}

func orRoot(at string) string {
	if at == "" {
		return "the whole"
	}
	return at
}

// shown is a value from a little before the place where it leaves the other.
func shown(v, other tools.JSON) string {
	if v.IsZero() {
		return "absent"
	}
	const before, most = 20, 120
	text, begin := v.String(), 0
	for begin < len(text) && begin < other.Len() && text[begin] == other.String()[begin] {
		begin++
	}
	if begin = max(begin-before, 0); begin > 0 {
		text = "…" + strings.ToValidUTF8(text[begin:], "")
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
