package invariant

// onLogAlone is how many of all are decided by the change log.
const onLogAlone = 6

// Judge checks All, and reports in their order those whose verdict is not ok. It
// comes to what their Checks come to, and reads the log once for all that it
// decides.
func Judge(ev Evidence, report func(Invariant, Finding)) {
	var findings [onLogAlone]Finding
	judgeLog(ev, all[:onLogAlone], findings[:])
	for i := range all {
		var f Finding
		if i < onLogAlone {
			f = findings[i]
		} else {
			f = all[i].Check(ev)
		}
		if f.Verdict != OK {
			report(all[i], f)
		}
	}
}

// judgeLog finds for each of the invariants, all of which have a rule, the first
// violation, or else the first doubt.
func judgeLog(ev Evidence, invs []Invariant, findings []Finding) {
	for i := range findings {
		findings[i] = ok()
	}
	l := newLedger(Promise{ev.MaxClockSkew})
	for request := range Requests(ev.Changes) {
		l.take(request, func(s *step) {
			for i := range invs {
				if findings[i].Verdict == Violated {
					continue
				}
				if f := invs[i].rule(s); f.Verdict != OK {
					findings[i] = findings[i].and(f)
				}
			}
		})
	}
	for i := range invs {
		f := &findings[i]
		if f.Verdict == Violated {
			f.Changes = Story(ev.Changes, f.Changes)
		} else if invs[i].beyond != nil {
			*f = f.and(invs[i].beyond(ev))
		}
	}
}
