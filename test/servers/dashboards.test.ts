/**
 * Dashboards and recording rules in a real Prometheus, in either naming, with either preset of series: scraped, and by OTLP through
 * VictoriaMetrics. Those that are pushed to Prometheus itself are in test/real.
 */
import { it } from 'vitest';
import { expectAnswers } from './dashboards.js';
import type { Way } from './spelled-fleet.js';

it.each<[preset: string, way: Way]>([
  ['standard', 'text'],
  ['full', 'text'],
  ['full', 'protobuf'],
  ['standard', 'OTLP and VictoriaMetrics'],
])('have data for every expression: preset %s, by %s', (preset, way) => expectAnswers(preset, way, 'node_exporter'));
