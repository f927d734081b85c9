// Package race tells whether the race detector is on. It makes code ten times slower.
package race
