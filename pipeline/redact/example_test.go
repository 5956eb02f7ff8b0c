package redact_test

import (
	"fmt"

	"github.com/runcode-go/runcode/pipeline/redact"
	"github.com/runcode-go/runcode/tools"
)

func Example() {
	r := redact.New(redact.FromEnviron([]string{"HOME=/home/ann", "DEPLOY_TOKEN=4b1d-77aa-90f3"}))

	fmt.Println(r.Text("curl -H 'X-Token: 4b1d-77aa-90f3' https://ann:pw@example.com"))
	fmt.Println(r.JSON(tools.MustJSON(`{"user":"ann","password":"tr0ub4dor","max_tokens":100}`)))
	// Output:
	// curl -H 'X-Token: [redacted: DEPLOY_TOKEN]' https://[redacted: URL credentials]@example.com
	// {"user":"ann","password":"[redacted]","max_tokens":100}
}
