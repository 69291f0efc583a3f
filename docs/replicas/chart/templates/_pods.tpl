{{- define "quire.labels" -}}
app.kubernetes.io/name: quire
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{/* The same on one line. */}}
{{- define "quire.selector" -}}
matchLabels: {{ include "quire.labels" . | fromYaml | toJson }}
{{- end }}

{{- define "quire.name" -}}
{{ printf "%s-%s" .root.Release.Name .role | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "quire.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{/* The variables of a role: those of all, its own over them, and what only the chart knows. */}}
{{- define "quire.env" -}}
{{- $own := dict "HOST" "0.0.0.0" "PORT" "8080" "DATA_DIR" "/var/lib/quire" -}}
{{- if eq .role "payments" -}}
{{- $_ := set $own "QUIRE_URL" (printf "http://%s-api:8080" .root.Release.Name) -}}
{{- else -}}
{{- $_ := set $own "ROLES" .role -}}
{{- end -}}
{{- range $name, $value := mergeOverwrite $own (deepCopy .root.Values.env) .values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end -}}
{{- end }}

{{/* What a pod of a role is but for its probes and its command: no rights, a root that cannot be written. */}}
{{- define "quire.podSpec" -}}
automountServiceAccountToken: false
{{- with .root.Values.serviceAccount.name }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: scratch
    emptyDir: { sizeLimit: {{ .values.scratch }} }
  - name: tmp
    emptyDir: {}
{{- end }}

{{- define "quire.container" -}}
name: quire
image: {{ include "quire.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
env: {{- include "quire.env" . | nindent 2 }}
envFrom:
  - secretRef: { name: {{ .values.secret | default .root.Values.secret }} }
resources: {{- toYaml .values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: scratch, mountPath: /var/lib/quire }
  - { name: tmp, mountPath: /tmp }
{{- end }}
