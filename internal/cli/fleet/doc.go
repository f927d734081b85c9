// Package fleet has the commands for campaigns that many machines run: isr-sim explore, merge and dashboard.
package fleet
