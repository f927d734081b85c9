package pagecache

import "time"

// Early is a Store that has pages made again while they are still fresh.
//
// The first request that is to do so takes the lease, looks again, and makes the page. If the lease is held, or
// anything fails, it is served the old page as long as that is fresh. All other requests are served the old page.
type Early interface {
	Store
	// Due says whether a request that has found this page, which is fresh, is to make it again.
	Due(m Meta, now time.Time) bool
}

// makesAgain says whether this request is to make a page again that it has found fresh.
func (v *visit) makesAgain(p *page) bool {
	if v.early == nil || !v.early.Due(p.meta, v.cfg.Clock.Now()) {
		return false
	}
	v.replaced = p.meta.S3Key
	return true
}

// replaces says whether this is the page that the request makes again although it was fresh.
func (v *visit) replaces(p *page) bool { return v.replaced != "" && v.replaced == p.meta.S3Key }

// hasFresh says whether a request that was to replace a fresh page has a fresh one to serve.
func (v *visit) hasFresh() bool { return v.replaced != "" && v.last != nil && v.fresh(v.last) }
