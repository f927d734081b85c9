package ddbfake_test

import "testing"

func TestInBubble(t *testing.T) { lockInBubble(t) }
