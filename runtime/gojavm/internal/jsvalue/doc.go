// Package jsvalue moves values between a goja engine and JSON text, losslessly
// or not at all.
//
// Encode walks an engine value and writes JSON text; Decode builds native
// engine objects from JSON text. Neither uses the program's JSON object, calls
// toJSON, or looks anything up that a program can replace, and neither leaves a
// Go value inside the engine. Both bound bytes, values and depth, and neither
// recurses.
//
// Everything here must run on the goroutine that owns the engine.
package jsvalue
