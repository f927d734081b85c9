// Package schedule has the words of a schedule: the choices that make it, and what is planned in it.
// Choices are in replay files and printed by each violation. The scheduler that takes them is a part of isr-sim; a program
// runs schedules by package scenario.
package schedule
