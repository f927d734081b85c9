// Package inside hides members of public types from other modules. A public struct embeds an [Of] under a name that is
// not exported, and [In] gives its content to the packages of this module:
//
//	type Config struct {
//		Table string
//		ours
//	}
//
//	type ours = inside.Of[own]
//
//	type own struct{ Observe func() }
//
//	inside.In(&config).Observe = noted
package inside

// Of holds a T. Its zero value holds the zero T.
type Of[T any] struct{ own T }

func (o *Of[T]) inside() *T { return &o.own }

// Put returns an Of that holds own.
func Put[T any](own T) Of[T] { return Of[T]{own} }

// In returns the content of the Of that a struct embeds.
func In[T any](in interface{ inside() *T }) *T { return in.inside() }
