// Command signing makes and checks cosign's signatures with keys in files, and pushes OCI layouts.
//
// It consists of cosign's own packages. The command of cosign also links the key services of clouds, a client of
// Kubernetes, OPA and CUE.
package main

import (
	"bytes"
	"crypto"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/sigstore/cosign/v3/pkg/cosign"
	"github.com/sigstore/cosign/v3/pkg/oci/empty"
	"github.com/sigstore/cosign/v3/pkg/oci/mutate"
	ociremote "github.com/sigstore/cosign/v3/pkg/oci/remote"
	"github.com/sigstore/cosign/v3/pkg/oci/static"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/sigstore/sigstore/pkg/signature/payload"
	"github.com/spf13/cobra"
)

// The annotation of an OCI layout that names an artefact.
const refName = "org.opencontainers.image.ref.name"

// With the logins of `docker login` and `helm registry login`.
var withLogins = remote.WithAuthFromKeychain(authn.DefaultKeychain)

func main() {
	root := &cobra.Command{Use: "signing", SilenceUsage: true}
	root.AddCommand(keys(), file(), push(), verify())
	if root.Execute() != nil {
		os.Exit(1)
	}
}

// password returns the password of the private key, from the variable that cosign reads.
func password(bool) ([]byte, error) {
	return []byte(os.Getenv("COSIGN_PASSWORD")), nil
}

func keys() *cobra.Command {
	return &cobra.Command{
		Use:   "keys PREFIX",
		Short: "Write a new pair of keys, PREFIX.key and PREFIX.pub",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			pair, err := cosign.GenerateKeyPair(password)
			if err != nil {
				return err
			}
			if err := create(args[0]+".key", pair.PrivateBytes, 0o600); err != nil {
				return err
			}
			return create(args[0]+".pub", pair.PublicBytes, 0o644)
		},
	}
}

// create writes a file that must not exist: nobody can replace a lost key.
func create(path string, content []byte, mode os.FileMode) error {
	target, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = target.Write(content)
	return errors.Join(err, target.Close())
}

func signer(path string) (signature.Signer, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pass, _ := password(false)
	loaded, err := cosign.LoadPrivateKey(content, pass, nil)
	if err != nil {
		return nil, fmt.Errorf("%s is no private key of cosign for COSIGN_PASSWORD: %w", path, err)
	}
	return loaded, nil
}

// sign returns the signature of a message in the form of cosign: base64.
func sign(key signature.Signer, message []byte) (string, error) {
	made, err := key.SignMessage(bytes.NewReader(message))
	return base64.StdEncoding.EncodeToString(made), err
}

func file() *cobra.Command {
	var key string
	command := &cobra.Command{
		Use:   "file --key KEY FILE",
		Short: "Write FILE.sig, which `cosign verify-blob` checks",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			loaded, err := signer(key)
			if err != nil {
				return err
			}
			content, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			made, err := sign(loaded, content)
			if err != nil {
				return err
			}
			return os.WriteFile(args[0]+".sig", []byte(made), 0o644)
		},
	}
	command.Flags().StringVar(&key, "key", "", "private key of cosign")
	_ = command.MarkFlagRequired("key")
	return command
}

func push() *cobra.Command {
	var key string
	command := &cobra.Command{
		Use:   "push [--key KEY] LAYOUT REPOSITORY",
		Short: "Push each artefact of an OCI layout to REPOSITORY/NAME:TAG, with its signature",
		Args:  cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			var loaded signature.Signer
			if key != "" {
				var err error
				if loaded, err = signer(key); err != nil {
					return err
				}
			}
			source, err := layout.FromPath(filepath.Clean(args[0]))
			if err != nil {
				return err
			}
			index, err := source.ImageIndex()
			if err != nil {
				return err
			}
			manifest, err := index.IndexManifest()
			if err != nil {
				return err
			}
			for _, one := range manifest.Manifests {
				tag, err := name.NewTag(args[1] + "/" + one.Annotations[refName])
				if err != nil {
					return err
				}
				artefact, err := index.Image(one.Digest)
				if err != nil {
					return err
				}
				if err := remote.Write(tag, artefact, withLogins); err != nil {
					return fmt.Errorf("%s: %w", tag, err)
				}
				digest := tag.Digest(one.Digest.String())
				if loaded != nil {
					if err := attach(loaded, digest); err != nil {
						return fmt.Errorf("signature of %s: %w", tag, err)
					}
				}
				fmt.Fprintf(command.OutOrStdout(), "%s@%s\n", tag, one.Digest)
			}
			return nil
		},
	}
	command.Flags().StringVar(&key, "key", "", "private key of cosign; without it nothing is signed")
	return command
}

// attach pushes the signature of an artefact to the place where every version of cosign looks: a tag beside it.
func attach(key signature.Signer, digest name.Digest) error {
	claim, err := payload.Cosign{Image: digest}.MarshalJSON()
	if err != nil {
		return err
	}
	made, err := sign(key, claim)
	if err != nil {
		return err
	}
	entry, err := static.NewSignature(claim, made)
	if err != nil {
		return err
	}
	signatures, err := mutate.AppendSignatures(empty.Signatures(), false, entry)
	if err != nil {
		return err
	}
	tag, err := ociremote.SignatureTag(digest)
	if err != nil {
		return err
	}
	return remote.Write(tag, signatures, withLogins)
}

func verify() *cobra.Command {
	var key string
	command := &cobra.Command{
		Use:   "verify --key PUBLIC_KEY REFERENCE...",
		Short: "Do what `cosign verify --key PUBLIC_KEY --insecure-ignore-tlog` does",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			content, err := os.ReadFile(key)
			if err != nil {
				return err
			}
			public, err := cryptoutils.UnmarshalPEMToPublicKey(content)
			if err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			verifier, err := signature.LoadVerifier(public, crypto.SHA256)
			if err != nil {
				return err
			}
			options := &cosign.CheckOpts{
				SigVerifier:        verifier,
				ClaimVerifier:      cosign.SimpleClaimVerifier,
				IgnoreTlog:         true,
				RegistryClientOpts: []ociremote.Option{ociremote.WithRemoteOptions(withLogins)},
			}
			for _, one := range args {
				reference, err := name.ParseReference(one)
				if err != nil {
					return err
				}
				if _, _, err := cosign.VerifyImageSignatures(command.Context(), reference, options); err != nil {
					return fmt.Errorf("%s: %w", one, err)
				}
				fmt.Fprintln(command.OutOrStdout(), "verified", one)
			}
			return nil
		},
	}
	command.Flags().StringVar(&key, "key", "", "public key of cosign")
	_ = command.MarkFlagRequired("key")
	return command
}
