package cardview_test

import (
	"fmt"

	"github.com/runcode-go/runcode/internal/cardview"
	"github.com/runcode-go/runcode/tools"
)

func ExampleDraw() {
	card := tools.Card{Type: tools.CardDiff, Title: "edit", Diffs: []tools.Diff{
		{Path: "notes.md", Old: "one\ntwo\nthree\n", New: "one\n2\nthree\n"},
	}}
	for _, line := range cardview.Draw(card, cardview.Style{Width: 40}) {
		fmt.Println(line)
	}
	// Output:
	// edit notes.md (+1 -1)
	// @@ -1,3 +1,3 @@
	//  one
	// -two
	// +2
	//  three
}

func ExampleTitle() {
	code := 1
	fmt.Println(cardview.Title(tools.Card{Type: tools.CardTerminal, Command: "go test ./...", ExitCode: &code}))
	// Output: $ go test ./...  exit 1
}
