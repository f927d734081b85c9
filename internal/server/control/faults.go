package control

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/server/hold"
	"github.com/isr-sim/isr-sim/s3fake"
)

// MaxFaults is the maximum number of faults that may wait at a time: every call of the service tries each of them.
const MaxFaults = 1000

type faultState struct {
	Faults []string `json:"faults"`
	Idle   []string `json:"idle"` // those that have hit no request
}

func (a *api) faults() faultState {
	s := faultState{[]string{}, Idle(a.db, a.holds)}
	if a.holds != nil {
		s.Faults = textsOf(s.Faults, a.holds.Rules())
	}
	s.Faults = textsOf(s.Faults, a.db.Injected())
	return s
}

// Idle lists the waiting holds and faults that have hit no request. The desk may be nil.
func Idle(db *ddbfake.DB, holds *hold.Desk) []string {
	idle := []string{}
	if holds != nil {
		idle = textsOf(idle, holds.Idle())
	}
	return textsOf(idle, db.Idle())
}

func textsOf[F fmt.Stringer](to []string, faults []F) []string {
	for _, f := range faults {
		to = append(to, f.String())
	}
	return to
}

func (a *api) listFaults() (any, error) { return a.faults(), nil }

// faultTexts reads the list of faults in a body.
func faultTexts(w http.ResponseWriter, r *http.Request, example string) (texts []string, err error) {
	found, err := members(w, r, "faults")
	if err != nil {
		return nil, err
	}
	if raw := found["faults"]; raw.Kind() != '[' || json.Unmarshal(raw, &texts) != nil {
		return nil, badRequest("faults is no list of strings", excerpt(found["faults"]),
			"a list of faults in their text form", example)
	}
	return texts, nil
}

// addFaults injects the faults of a request, or none if one of them cannot be read.
func (a *api) addFaults(w http.ResponseWriter, r *http.Request) (any, error) {
	const example = `for example {"faults":["throttled op=PutItem times=2"]}`
	texts, err := faultTexts(w, r, example)
	if err != nil {
		return nil, err
	}
	var faults []ddbfake.Fault
	var rules []hold.Rule
	for _, text := range texts {
		if hold.IsRule(text) {
			rule, err := hold.ParseRule(text)
			if err != nil {
				return nil, badRequest(err.Error(), text, "hold, then name=value predicates",
					`for example {"faults":["hold op=PutItem key=LOCK"]}`)
			}
			if a.holds == nil {
				return nil, noHolds()
			}
			rules = append(rules, rule)
			continue
		}
		fault, err := ddbfake.ParseFault(text)
		if err != nil {
			return nil, badRequest(err.Error(), text, "a kind, or hold, then name=value predicates", example)
		}
		faults = append(faults, fault)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.faults().Faults) + len(texts); n > MaxFaults {
		return nil, conflict("too many faults wait", fmt.Sprint(n), fmt.Sprintf("at most %d", MaxFaults),
			"DELETE "+Prefix+"/faults drops them")
	}
	if a.holds != nil {
		a.holds.Add(rules...)
	}
	a.db.Inject(faults...)
	return a.faults(), nil
}

func (a *api) clearFaults() (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	idle := Idle(a.db, a.holds)
	if a.holds != nil {
		a.holds.ClearRules()
	}
	a.db.ClearFaults()
	return faultState{[]string{}, idle}, nil
}

// s3Faults lists the faults of the S3 fake.
func (a *api) s3Faults() faultState {
	return faultState{textsOf([]string{}, a.s3.Injected()), IdleS3(a.s3)}
}

// IdleS3 lists the waiting faults of the S3 fake that have hit no request.
func IdleS3(s3 *s3fake.Store) []string { return textsOf([]string{}, s3.Idle()) }

// noS3 returns the error for a request about the S3 fake if the server has none; else nil.
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
