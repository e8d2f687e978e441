//go:build race

package main

// raceMemory is how many times more memory a process may hold under the race
// detector, whose documentation calls five to ten times usual.
const raceMemory = 3
