/** Files of deploy/prometheus and deploy/grafana, for all spellings of the series. */
import { alertGroup, alertList } from './alerts.mjs';
import { agentsDashboard } from './agents-dashboard.mjs';
import { fleetDashboard } from './fleet-dashboard.mjs';
import { Queries } from './queries.mjs';
import { recordingGroups } from './recording-rules.mjs';
import { ruleFile } from './rule-files.mjs';

const ABOUT_RULES = `Made by packaging/monitoring (npm run schema). One set of names and labels for all spellings of nixl-otel's series: scraped in
naming nixl or otel, or by OTLP. By agent and, for transfers, by direction. Times are in seconds.`;
const ABOUT_ALERTS = `Made by packaging/monitoring (npm run schema). Alerts on nixl-otel, for all spellings of its series. They need
recording-rules.yml. NixlOtelDown sees targets of the job nixl-otel, and others that have answered within the last hour.
The recorded increases hold the first sample of a series as well: an agent that lost events before its first scrape
raises an alert. The rates and increases below need no first samples, because only a fault that lasts is an alert.
The thresholds of errors and late drains are starting points: adapt them to your normal load.`;

/** Returns the texts by their paths, before Prettier. */
export function monitoringFiles(model) {
  const queries = new Queries(model);
  return {
    'deploy/prometheus/recording-rules.yml': ruleFile(ABOUT_RULES, recordingGroups(queries)),
    'deploy/prometheus/alerts.yml': ruleFile(ABOUT_ALERTS, [alertGroup(queries)]),
    'deploy/grafana/nixl-agents.json': JSON.stringify(agentsDashboard(model)),
    'deploy/grafana/nixl-fleet.json': JSON.stringify(fleetDashboard()),
  };
}

export function alertsIn(model) {
  return alertList(new Queries(model));
}
