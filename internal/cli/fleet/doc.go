// Package fleet has the commands for campaigns on many machines: isr-sim explore, merge and dashboard.
package fleet
