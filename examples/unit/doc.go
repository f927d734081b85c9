// Package unit is a plain unit test of a cache, with a fake clock and a fake table: no schedules, no random worlds. It
// tests the cache of examples/articles. live.Watch, one line, judges what the cache wrote meanwhile.
package unit
