package todotools

import (
	"context"
	"fmt"

	"github.com/runcode-go/runcode/tools"
)

// write is the body of todo_write.
func (l *Lists) write(ctx context.Context, run *tools.Run, in listIn) (listOut, error) {
	out, err := l.preview(ctx, run, in)
	if err != nil {
		return listOut{}, err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	if ctx.Err() != nil {
		return listOut{}, context.Cause(ctx)
	}
	data := out.data()
	if l.opts.Emit != nil {
		if err := l.opts.Emit(EventTodoWrite, data); err != nil {
			return listOut{}, &tools.Error{Name: "TodoError", Code: codeLog, Err: err,
				Message: fmt.Sprintf("%s: the list could not be logged, so the one before stays: %v", toolName, err)}
		}
	}
	l.store(run.Call().Agent(), data)
	return out, nil
}

// preview answers as write does and changes nothing.
func (l *Lists) preview(_ context.Context, run *tools.Run, in listIn) (listOut, error) {
	if err := checkAgent(run.Call().Agent()); err != nil {
		return listOut{}, err
	}
	out, problems := check(in, l.opts.AllowParallelInProgress)
	if problems != nil {
		return listOut{}, &tools.ArgsError{Tool: toolName, Problems: problems}
	}
	return out, nil
}
