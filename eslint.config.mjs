import js from '@eslint/js';
import jupyter from '@jupyter/eslint-plugin';
import prettier from 'eslint-config-prettier';
import globals from 'globals';
import tseslint from 'typescript-eslint';

// Rules that need types, and unused variables, are oxlint's: see .oxlintrc.json.
export default tseslint.config(
  { ignores: ['node_modules', 'lib', 'coverage', '**/*.js', '**/*.d.ts'] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  { plugins: { jupyter } },
  ...jupyter.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: {
      globals: globals.browser
    },
    rules: {
      // What naming-convention would say, in a tenth of the time.
      'no-restricted-syntax': [
        'error',
        {
          selector: 'TSInterfaceDeclaration[id.name!=/^I[A-Z]/]',
          message: 'The name of an interface begins with I.'
        }
      ],
      '@typescript-eslint/no-namespace': 'off',
      '@typescript-eslint/no-unused-vars': 'off',
      // The code view is loaded when it is first opened; all else is needed at
      // the start.
      'jupyter/prefer-lazy-imports': 'off',
      curly: ['error', 'all'],
      eqeqeq: 'error',
      'prefer-arrow-callback': 'error'
    }
  },
  {
    files: ['tests/**'],
    rules: { 'jupyter/no-untranslated-string': 'off' }
  },
  prettier
);
