// Tells VS Code how the adapter is started.
const vscode = require('vscode');

class Factory {
	createDebugAdapterDescriptor(session) {
		const path = vscode.workspace.getConfiguration('ptxloom').get('path') || 'ptxloom';

		return new vscode.DebugAdapterExecutable(path, ['dap']);
	}
}

function activate(context) {
	context.subscriptions.push(
		vscode.debug.registerDebugAdapterDescriptorFactory('ptxloom', new Factory()));
}

module.exports = { activate, deactivate() {} };
