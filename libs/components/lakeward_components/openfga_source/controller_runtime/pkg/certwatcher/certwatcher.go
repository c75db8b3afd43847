// Package certwatcher stands in for controller-runtime's, which brings four hundred packages of Kubernetes along.
//
// OpenFGA uses it to reload TLS certificates. This one reads them once: the server is for tests on loopback, without TLS.
package certwatcher

import (
	"context"
	"crypto/tls"
)

// CertWatcher holds the certificate that was there at the start.
type CertWatcher struct {
	certificate tls.Certificate
	callback    func(tls.Certificate)
}

// New reads a certificate.
func New(certPath, keyPath string) (*CertWatcher, error) {
	certificate, err := tls.LoadX509KeyPair(certPath, keyPath)
	if err != nil {
		return nil, err
	}
	return &CertWatcher{certificate: certificate}, nil
}

// RegisterCallback tells of the certificate, once.
func (w *CertWatcher) RegisterCallback(callback func(tls.Certificate)) {
	w.callback = callback
	callback(w.certificate)
}

// GetCertificate answers the one.
func (w *CertWatcher) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return &w.certificate, nil
}

// Start returns when told to stop.
func (w *CertWatcher) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
