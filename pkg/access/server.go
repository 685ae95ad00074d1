package access

import (
	"net/http"
	"net/url"
	"slices"

	"k8s.io/client-go/rest"
)

// server is where the profile says that the API server is, without
// credentials.
func (r *reader) server(p provider) (*rest.Config, error) {
	cluster, field := p.Cluster, p.field+".cluster"
	if err := r.checkServer(field, cluster.Server); err != nil {
		return nil, err
	}
	switch {
	case cluster.InsecureSkipTLSVerify:
		return nil, r.insecure(field+".insecure-skip-tls-verify", "the credentials would go to whoever answers")
	case cluster.CertificateAuthority != "":
		return nil, r.insecure(field+".certificate-authority", "it names a file of this machine; write certificate-authority-data")
	}
	config := &rest.Config{Host: cluster.Server, DisableCompression: cluster.DisableCompression}
	config.CAData = cluster.CertificateAuthorityData
	config.ServerName = cluster.TLSServerName
	if cluster.ProxyURL != "" {
		proxy, err := url.Parse(cluster.ProxyURL)
		if err != nil || proxy.Host == "" || !slices.Contains([]string{"http", "https", "socks5"}, proxy.Scheme) {
			return nil, r.invalid(field+".proxy-url", "write an http, https or socks5 URL")
		}
		config.Proxy = http.ProxyURL(proxy)
	}
	return config, nil
}

func (r *reader) checkServer(field, server string) error {
	parsed, err := url.Parse(server)
	switch {
	case server == "":
		return r.invalid(field+".server", "it is empty: write the URL of the API server")
	case err != nil || parsed.Host == "":
		return r.invalid(field+".server", "write an https URL")
	case parsed.Scheme != "https":
		return r.insecure(field+".server", "write an https URL")
	case parsed.User != nil:
		return r.insecure(field+".server", "it holds a user")
	}
	return nil
}

func (r *reader) insecure(field, detail string) error {
	return &Error{Object: r.object(), Field: field, Kind: ErrInsecure, Detail: detail}
}
