package mark

// The kinds of events of idempotent calls, after those of locks: each is a history.Kind, and the event has a Hold. The
// event's key is the call's idempotency key, Inputs its payload, and Body the result of an effect.
const (
	EventCallAsked    = iota + 27 // a client made the call
	EventCallAnswered             // it was told a result
	EventCallRefused              // it was told to try again; Note is the error
	EventCallOther                // it was told that the key belongs to another payload; Note is the error
	EventEffectBegun              // the effect of the call began
	EventEffect                   // the effect took place
	EventEffectFailed             // the effect failed without taking place; Note is the error
)
