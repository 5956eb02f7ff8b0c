// Package agent is a small agent loop: it asks a model, makes the calls the model
// wants, and asks again, until the model has no more to call.
//
// It is what the command and the benchmark need and no framework: no streaming, no
// summaries of long conversations, no retries of what a model gets wrong. How
// requests travel is a Transport: Client posts them, Recorder and Player keep and
// replay them.
package agent
