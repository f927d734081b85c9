// Package schedule has the words of a schedule: the choices that make it, and what is planned in it. Choices are in
// replay files, and are printed with each violation. The scheduler that takes the steps is an internal part of isr-sim;
// a program runs schedules through package scenario.
package schedule
