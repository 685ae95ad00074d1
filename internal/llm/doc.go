// Package llm is what asking a language model for a score comes to: a
// cluster's series and a rubric become a question, and what the model answers
// becomes a rating, or a reason why there is none. It is pure; who asks is a
// service's own.
//
// The question and the answer are those of the chat completions API, as
// OpenAI has it and vLLM, Ollama, llama.cpp and others serve it, with
// structured output.
package llm
