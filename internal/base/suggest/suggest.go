// Package suggest guesses which word a misspelt one was meant to be.
//
//	option, ok := suggest.Nearest("blind-publsh", []string{"blind-publish", "blind-release"})
//	fmt.Println(option, ok) // blind-publish true
package suggest

import (
	"fmt"
	"strings"
)

// Nearest returns the option that differs from word by the fewest edits (letters inserted, deleted, replaced, or
// swapped with their neighbour), if these are few enough for a misspelling: at most a third of the word's length, but
// one is always allowed. If several are equally near, it returns the first. If no option is near, it returns the
// shortest one that begins with the word, if the word has three letters or more.
func Nearest(word string, options []string) (option string, ok bool) {
	fewest := 1 + max(1, len(word)/3)
	for _, o := range options {
		if d := editDistance(word, o); d < fewest {
			option, fewest, ok = o, d, true
		}
	}
	if ok || len(word) < 3 {
		return option, ok
	}
	for _, o := range options {
		if strings.HasPrefix(o, word) && (!ok || len(o) < len(option)) {
			option, ok = o, true
		}
	}
	return option, ok
}

// Hint asks whether the user meant the nearest option; if there is none, it returns the parameter other.
func Hint(word string, options []string, other string) string {
	if option, ok := Nearest(word, options); ok {
		return fmt.Sprintf("did you mean %q?", option)
	}
	return other
}

// editDistance is Levenshtein's distance, in which swapping two neighbours also counts as one edit: "rnu" is one edit
// from "run".
func editDistance(a, b string) int {
	// Rows of the table of distances between the first i bytes of a and the first j of b: i-2, i-1 and i.
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			substitute := last[j]
			if a[i] != b[j] {
				substitute++
			}
			row[j+1] = min(substitute, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
