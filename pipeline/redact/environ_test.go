package redact_test

import (
	"testing"

	"github.com/runcode-go/runcode/pipeline/redact"
)

func TestFromEnviron(t *testing.T) {
	for _, tt := range []struct {
		entry string
		value string // "" for none
	}{
		{"GITHUB_TOKEN=abcdefgh1234", "abcdefgh1234"},
		{"npm_config_token=abcdefgh1234", "abcdefgh1234"},
		{"OPENAI_API_KEY=0123=456=789a", "0123=456=789a"},
		{"APIKEY=abcdefgh1234", "abcdefgh1234"},
		{"DB_PASSWORD=correct horse", "correct horse"},
		{"CLIENT_SECRET=lettersonly", "lettersonly"},
		{"AWS_SECRET_ACCESS_KEY=/aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA3bC6dE9", "/aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA3bC6dE9"},
		{"NODE_AUTH=abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrstuvwx"},
		{"DATABASE_URL=postgres://app:s3cretpw@db/app", "s3cretpw"},
		{"MONGO_URL=mongodb://app:s3cret%40pw@db1:27017,db2:27017/app", "s3cret@pw"},
		{"DATABASE_URL=postgres://app:s3#cret/pw@db/app", "s3#cret/pw"},
		{"DATABASE_URL=postgres://app:s3%cretpw@db/app", "s3%cretpw"},
		{"PGPASSWORD=lettersonly", "lettersonly"},
		{"MYSQL_PWD=lettersonly", "lettersonly"},
		{"SSHPASS=lettersonly", "lettersonly"},
		{"npm_config_//registry.npmjs.org/:_authToken=lettersonly", "lettersonly"},
		{"PWD=/data1/projects", ""},
		{"OLDPWD=/data1/projects", ""},
		{"PACKAGE_URL=http://localhost:8080/packages/@scope/name", ""},
		{"HOOK=http://localhost:8080/to?next=http://a@b", ""},
		{"SSH_AUTH_SOCK=/run/user/1000/keyring/ssh", ""},
		{"SSH_AUTH_SOCK=abcdefgh1234", ""},
		{"XAUTHORITY=/home/u/.Xauthority", ""},
		{"DB_PASSWORD=short", ""},
		{"POSTGRES_PASSWORD=postgres", ""},
		{"DATABASE_URL=postgres://app:postgres@db/app", ""},
		{"DB_PASSWORD=", ""},
		{"DB_PASSWORD", ""},
		{"TLS_KEY=/etc/ssl/private/host.pem", ""},
		{"TLS_KEY=~/.ssh/id_ed25519", ""},
		{`TLS_KEY=C:\keys\host1.pem`, ""},
		{"DB_PASSWORD_FILE=run-secrets-db1", ""},
		{"TOKEN_URL=https://login.example.com/v2", ""},
		{"AUTH_METHOD=password1", ""},
		{"AUTH=disabled", ""},
		{"TOKEN_LIMIT=100000000", ""},
		{"GIT_AUTHOR_NAME=somebody123", ""},
		{"KEYMAP=something123", ""},
		{"PATH=/usr/bin:/bin", ""},
	} {
		t.Run(tt.entry, func(t *testing.T) {
			got := ""
			for _, s := range redact.FromEnviron([]string{"HOME=/home/u", tt.entry}).Secrets {
				got += s.Value
			}
			check(t, "value", got, tt.value)
		})
	}
}

func TestFromEnvironIsOrdered(t *testing.T) {
	r := redact.New(redact.FromEnviron([]string{"B_TOKEN=abcdefgh1234", "A_TOKEN=abcdefgh1234"}))
	check(t, "text", r.Text("abcdefgh1234"), "[redacted: A_TOKEN]")
}
