// Package ptytest gives tests a pseudo-terminal: they type on its keyboard and
// read what appears on its screen, byte by byte. It works on Linux.
package ptytest
