package redact_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline/redact"
	"github.com/runcode-go/runcode/tools"
)

func TestJSON(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"nothing", `{"b":[1.0,-0,9007199254740993,null,true],"a":"\ud800"}`, `{"b":[1.0,-0,9007199254740993,null,true],"a":"\ud800"}`},
		{"a string", `"hunter2hunter2"`, `"[redacted: PLAIN]"`},
		{"inside strings", `{"b":1,"a":["x hunter2hunter2 y","\ud800hunter2hunter2\udc00"]}`, `{"b":1,"a":["x [redacted: PLAIN] y","\ud800[redacted: PLAIN]\udc00"]}`},
		{"a member of that name", `{"password":"x","n":{"apiKey":7,"token":""}}`, `{"password":"[redacted]","n":{"apiKey":"[redacted]","token":""}}`},
		{"scalars that hold nothing", `{"password":null,"secret":true,"token":false}`, `{"password":null,"secret":true,"token":false}`},
		{"an array of strings", `{"cookie":["a=b",3,["c"],{"d":"e"}]}`, `{"cookie":["[redacted]",3,["c"],{"d":"e"}]}`},
		{"an object of that name", `{"credentials":{"user":"u","password":"p"},"x":"y"}`, `{"credentials":{"user":"u","password":"[redacted]"},"x":"y"}`},
		{"after a nested value", `{"a":{"token":{"x":[]},"y":"z"},"b":"c"}`, `{"a":{"token":{"x":[]},"y":"z"},"b":"c"}`},
		{"further names", `{"SSN":"1","cardNumber":2,"ssn_hint":"3"}`, `{"SSN":"[redacted]","cardNumber":"[redacted]","ssn_hint":"3"}`},
		{"a number that is known", `[123456789012]`, `["[redacted: PIN]"]`},
		{"names", `{"hunter2hunter2":1,"a":2}`, `{"[redacted: PLAIN]":1,"a":2}`},
		{"names that become equal", `{"[redacted: PLAIN]":0,"hunter2hunter2":1,"p\"a/s\\s<w>&o+r d=\nünïcode😀":2,"[redacted: PLAIN] (2)":3}`,
			`{"[redacted: PLAIN]":0,"[redacted: PLAIN] (2)":1,"[redacted: AWKWARD]":2,"[redacted: PLAIN] (2) (2)":3}`},
		{"names of other objects", `{"hunter2hunter2":{"hunter2hunter2":{}},"b":{"hunter2hunter2":1}}`, `{"[redacted: PLAIN]":{"[redacted: PLAIN]":{}},"b":{"[redacted: PLAIN]":1}}`},
		{"JSON in a string", `{"arguments":"{ \"password\": \"x\",\n \"n\": 1.0 }"}`, `{"arguments":"{ \"password\": \"[redacted]\",\n \"n\": 1.0 }"}`},
		{"JSON in JSON in a string", `"[\"{\\\"password\\\":\\\"x\\\"}\"]"`, `"[\"{\\\"password\\\":\\\"[redacted]\\\"}\"]"`},
		{"a secret across tokens of JSON in a string", `"{\"s\": 1, \"two\": 2}"`, `"{\"[redacted: MEMBERS]}"`},
		{"what only looks like JSON", `"{\"password\":\"x\" hunter2hunter2"`, `"{\"password\":\"x\" [redacted: PLAIN]"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := redact.New(&redact.Options{
				Secrets: []redact.Secret{{"PLAIN", plain}, {"AWKWARD", awkward}, {"PIN", "123456789012"}, {"MEMBERS", `s": 1, "two": 2`}},
				Names:   []string{"ssn", "card_number"},
			})
			check(t, "value", r.JSON(tools.MustJSON(tt.value)).String(), tt.want)
			check(t, "again", r.JSON(tools.MustJSON(tt.want)).String(), tt.want)
		})
	}
}

func TestSecretNames(t *testing.T) {
	secret := `password passwd Password user_password dbPassword password2 newPassword password_hash passphrase secret client_secret
		api_key apiKey APIKey x-api-key apikey access_token refresh_token id_token auth_token accessToken private_key secretAccessKey
		token npm_token X-Auth-Token authtoken authorization Proxy-Authorization cookie set-cookie credentials jwt backendToken
		clientsecret AccountKey password_confirmation`
	other := `max_tokens nextPageToken next_page_token page_token pagetoken continuationToken token_count tokens tokenizer token_type author
		secretary key keys public_key publicKey primary_key monkey keyboard passed pass password_length passwords_changed secret_name
		secretRef authors authenticated cookieless api_key_id user auth cancellationToken nextForwardToken nextBackwardToken
		resumeToken delta_token skipToken $skiptoken scrollToken startToken idempotencyToken outputToken`
	shown := func(name string) string {
		return redact.New(nil).JSON(tools.MustJSON(fmt.Sprintf(`{%q:"x"}`, name))).String()
	}
	for _, name := range strings.Fields(secret) {
		check(t, name, shown(name), fmt.Sprintf(`{%q:"[redacted]"}`, name))
	}
	for _, name := range strings.Fields(other) {
		check(t, name, shown(name), fmt.Sprintf(`{%q:"x"}`, name))
	}
}

func TestJSONOfNothing(t *testing.T) {
	var r *redact.Redactor
	v := tools.MustJSON(`{"password":"x"}`)
	check(t, "nil", r.JSON(v), v, cmpJSON)
	check(t, "no value", known().JSON(tools.JSON{}), tools.JSON{}, cmpJSON)
}

// Names that become equal are numbered without looking at all before them, or a
// map from tokens would hold its log up for hours.
func TestJSONManyEqualNames(t *testing.T) {
	const n = 300_000
	var in, want strings.Builder
	for i := range n {
		fmt.Fprintf(&in, `,"gh%s%06d":1`, "p_0123456789", i)
		if fmt.Fprint(&want, `,"[redacted: GitHub token]`); i > 0 {
			fmt.Fprintf(&want, " (%d)", i+1)
		}
		want.WriteString(`":1`)
	}
	got := redact.New(nil).JSON(tools.MustJSON("{" + in.String()[1:] + "}")).String()
	if got != "{"+want.String()[1:]+"}" {
		t.Errorf("%d names became %.200s…", n, got)
	}
}

func TestJSONDeepAndLarge(t *testing.T) {
	const depth = 10_000
	arrays := strings.Repeat("[", depth) + strings.Repeat("]", depth)
	check(t, "deep arrays", known().JSON(tools.MustJSON(arrays)).String(), arrays)
	nest := func(inner string) string {
		return strings.Repeat(`{"a":`, depth-1) + inner + strings.Repeat(`}`, depth-1)
	}
	check(t, "deep objects", known().JSON(tools.MustJSON(nest(`{"password":"x"}`))).String(), nest(`{"password":"[redacted]"}`))
	// A secret name at every level, behind what was read before.
	wide := strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat(`,"hunter2hunter2":0}`, depth)
	want := strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat(`,"[redacted: PLAIN]":0}`, depth)
	check(t, "names at every level", known().JSON(tools.MustJSON(wide)).String(), want)

	large := strings.Repeat("text ", 200_000)
	check(t, "a long string", known().JSON(tools.StringJSON(large+plain+large)), tools.StringJSON(large+"[redacted: PLAIN]"+large), cmpJSON)
}

// FuzzJSON: the result is a value of the same shape in which nothing but strings,
// names and secret numbers differ, and it stays.
func FuzzJSON(f *testing.F) {
	f.Add(`{"password":"x","a":["hunter2hunter2",{"token":3}],"hunter2hunter2":-0}`)
	f.Add(`{"arguments":"{\"password\":\"x\"}","hunter2hunter2":1,"[redacted: PLAIN]":2}`)
	f.Add(`"{\"a\":\"[\\\"hunter2hunter2\\\"]\"}"`)
	f.Add(`{"ssn":["a",1]}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := tools.ParseJSON(text)
		if err != nil {
			return
		}
		r := known()
		got := r.JSON(v)
		if again := r.JSON(got); again != got {
			t.Errorf("%s became %s, then %s", v, got, again)
		}
		if strings.Contains(got.String(), plain) {
			t.Errorf("%s still holds the secret: %s", v, got)
		}
		if diff := cmp.Diff(shape(t, v), shape(t, got)); diff != "" {
			t.Errorf("%s became %s:\n%s", v, got, diff)
		}
	})
}

// shape is the tokens of a value with strings, names and numbers left open;
// numbers count as strings, which they may become.
func shape(t *testing.T, v tools.JSON) []string {
	t.Helper()
	var list []string
	dec := json.NewDecoder(strings.NewReader(v.String()))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			return list
		}
		switch tok := tok.(type) {
		case string, json.Number:
			list = append(list, "scalar")
		default:
			list = append(list, fmt.Sprint(tok))
		}
	}
}

var cmpJSON = cmp.AllowUnexported(tools.JSON{})
