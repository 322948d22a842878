// What may import what in `src/`; `jlpm imports:check` checks it.
const BELOW_VIEWS =
  '^src/(protocol|model|words|charts|graph|code|tokens|interfaces)';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      severity: 'error',
      from: {},
      to: { circular: true }
    },
    {
      name: 'views-do-not-import-one-another',
      comment:
        'What two views share is in panels/common, code, graph or words.',
      severity: 'error',
      from: { path: '^src/panels/([^/]+)/' },
      to: {
        path: '^src/panels/[^/]+/',
        pathNot: ['^src/panels/$1/', '^src/panels/common/']
      }
    },
    {
      name: 'common-parts-know-no-view',
      severity: 'error',
      from: { path: '^src/panels/common/' },
      to: { path: '^src/panels/', pathNot: '^src/panels/(common/|views[.]ts)' }
    },
    {
      name: 'what-is-below-views-knows-none',
      severity: 'error',
      from: { path: BELOW_VIEWS },
      to: { path: '^src/(panels|plugins|page|notebook)/' }
    },
    {
      name: 'the-model-is-below-words',
      severity: 'error',
      from: { path: '^src/(protocol|model|interfaces|tokens)' },
      to: { path: '^src/words/' }
    },
    {
      name: 'the-protocol-is-below-the-model',
      severity: 'error',
      from: { path: '^src/(protocol|interfaces|tokens)' },
      to: { path: '^src/model/' }
    },
    {
      name: 'the-model-has-no-dom',
      severity: 'error',
      from: { path: '^src/(protocol|model|words)/' },
      to: { path: ['^src/(charts|graph|code)/', 'node_modules/react'] }
    },
    {
      name: 'the-relay-is-small',
      comment: 'It stands in every widget: of the rest it knows messages alone.',
      severity: 'error',
      from: { path: '^src/relay/' },
      to: { pathNot: '^src/(relay|protocol/(types|portMessages)[.]ts)' }
    },
    {
      name: 'the-page-runs-without-jupyterlab',
      severity: 'error',
      from: {
        path: '^src/(page|panels|code|graph|charts|words|model|protocol)/'
      },
      to: { path: '^src/(plugins|notebook)/' }
    }
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    // Type imports count too.
    tsPreCompilationDeps: true
  }
};
