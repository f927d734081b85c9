// Package must ends a test at an error that is not the subject of the test.
package must

// OK ends the test if err is not nil.
func OK(t T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Done is OK for a call whose result the test ignores: must.Done(t)(door.PutItem(ctx, in)).
func Done(t T) func(_ any, err error) {
	return func(_ any, err error) {
		t.Helper()
		OK(t, err)
	}
}

// Of is OK for a call whose result the test needs: item := must.Of(attr.ItemFromSDK(v))(t).
func Of[V any](v V, err error) func(t T) V {
	return func(t T) V {
		t.Helper()
		OK(t, err)
		return v
	}
}

// T is what OK needs of a *testing.T, a *testing.B, a *testing.F or a *rapid.T.
type T interface {
	Helper()
	Fatal(args ...any)
}
