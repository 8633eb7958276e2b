module noderotation.io/e2e/cert-manager

go 1.26.0

require github.com/cert-manager/cert-manager v1.20.3 // indirect
