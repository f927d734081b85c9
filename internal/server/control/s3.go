package control

import (
	"fmt"
	"net/http"

	"github.com/isr-sim/isr-sim/s3fake"
)

// s3Faults lists the faults of the S3 fake.
func (a *api) s3Faults() faultState {
	return faultState{textsOf([]string{}, a.s3.Injected()), IdleS3(a.s3)}
}

// IdleS3 lists the faults of the S3 fake that wait and have struck no request.
func IdleS3(s3 *s3fake.Store) []string { return textsOf([]string{}, s3.Idle()) }

// noS3 is the error for a request about the S3 fake on a server without one; else nil.
func (a *api) noS3() error {
	if a.s3 != nil {
		return nil
	}
	return conflict("there is no S3 here", "a server of DynamoDB alone",
		"one that serves S3, too", "isr-sim serve --s3")
}

func (a *api) listS3Faults() (any, error) {
	if err := a.noS3(); err != nil {
		return nil, err
	}
	return a.s3Faults(), nil
}

// addS3Faults injects the faults of a request, or none if one of them cannot be read.
func (a *api) addS3Faults(w http.ResponseWriter, r *http.Request) (any, error) {
	const example = `for example {"faults":["throttled op=PutObject times=2"]}`
	texts, err := faultTexts(w, r, example)
	if err != nil {
		return nil, err
	}
	if err := a.noS3(); err != nil {
		return nil, err
	}
	faults := make([]s3fake.Fault, len(texts))
	for i, text := range texts {
		if faults[i], err = s3fake.ParseFault(text); err != nil {
			return nil, badRequest(err.Error(), text, "a kind, then name=value predicates", example)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.s3.Injected()) + len(faults); n > MaxFaults {
		return nil, conflict("too many faults wait", fmt.Sprint(n), fmt.Sprintf("at most %d", MaxFaults),
			"DELETE "+Prefix+"/s3/faults drops them")
	}
	a.s3.Inject(faults...)
	return a.s3Faults(), nil
}

func (a *api) clearS3Faults() (any, error) {
	if err := a.noS3(); err != nil {
		return nil, err
	}
	idle := IdleS3(a.s3)
	a.s3.ClearFaults()
	return faultState{[]string{}, idle}, nil
}

// keepBodies keeps the objects under the name of a snapshot.
func (a *api) keepBodies(name string) {
	if a.s3 != nil {
		a.bodies[name] = a.s3.Snapshot()
	}
}

// restoreBodies sets the objects back.
func (a *api) restoreBodies(name string) {
	if a.s3 != nil {
		a.s3.Restore(a.bodies[name])
	}
}
