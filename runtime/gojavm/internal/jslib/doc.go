// Package jslib gives a fresh goja engine the globals that programs count on
// and the engine lacks: console with Node's formatting, structuredClone,
// queueMicrotask, TextEncoder, URL, Buffer, AbortController, crypto, the English
// part of Intl and so on, and the library methods that are newer than the engine.
//
// None of it reaches the host: output, time and randomness come from a Host.
// Native functions never panic and carry the names scripts expect.
package jslib
