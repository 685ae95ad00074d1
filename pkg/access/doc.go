// Package access turns a ClusterProfile of SIG-Multicluster into a
// rest.Config for the cluster that it describes. It is for consumers of
// PlacementDecisions that know nothing of OCM or Spokewire.
//
// A ClusterProfile says where the API server is, and by which access
// providers credentials are to be had (KEP-5339); it holds none. RestConfig
// takes the first of its providers that it knows and whose Secret is there:
//
//   - one of Options.Providers: a program that SIG-Multicluster's library
//     runs (client-go's exec plugins);
//   - secretreader: the token in the Secret of the cluster's name;
//   - kubeconfig-secretreader: the user of a kubeconfig in a Secret. The
//     kubeconfig may refer to other keys of the Secret as to files beside it,
//     as that of OCM's registration does.
//
// Both kinds of Secrets are read without running a program; their format is
// that of the plugins of the same names in sigs.k8s.io/cluster-inventory-api.
// With Options.ManagedServiceAccount the token is that of OCM's
// ManagedServiceAccount instead.
//
// Whoever may write a ClusterProfile's status decides where credentials are
// sent to. RestConfig therefore reads Secrets of the profile's namespace and
// of those that the caller allows only (and of the cluster's, the one that
// Options.ManagedServiceAccount names), takes no server without TLS or without
// a check of its certificate, and reads no file that a profile or a Secret
// names.
package access
