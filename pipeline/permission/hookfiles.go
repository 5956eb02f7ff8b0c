package permission

import (
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/runcode-go/runcode/internal/jsondoc"
	"github.com/runcode-go/runcode/internal/jsonscan"
)

// commandsIn lists the commands of hooks: every string called command.
func commandsIn(n jsondoc.Node) []string {
	var list []string
	for _, m := range n.Members {
		if m.Name == "command" && m.Value.Kind == jsonscan.String {
			text, _ := m.Value.Text()
			list = append(list, text)
		}
		list = append(list, commandsIn(m.Value)...)
	}
	for _, item := range n.Items {
		list = append(list, commandsIn(item)...)
	}
	return list
}

// programs are the files below root that hook commands name: who could write one
// would run what the operator has not seen, before every call. A word is a file if
// there is one, or if it is a path that could become one. Names with variables
// other than the project's directory and those with spaces are not recognised.
func programs(commands []string, root string) []string {
	var files []string
	for _, command := range commands {
		for _, word := range words(command) {
			file := absoluteIn(root, filepath.FromSlash(strings.NewReplacer("${CLAUDE_PROJECT_DIR}", ".", "$CLAUDE_PROJECT_DIR", ".").Replace(word)))
			if !isBelow(root, file) {
				continue
			}
			info, err := os.Stat(file)
			if err == nil && !info.IsDir() || err != nil && strings.Contains(word, "/") {
				files = append(files, file)
			}
		}
	}
	return files
}

// words are the words of a shell command without their quotes.
func words(command string) []string {
	plain := strings.NewReplacer(`"`, "", "'", "").Replace(command)
	return strings.FieldsFunc(plain, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("`;&|()<>=", r) })
}
