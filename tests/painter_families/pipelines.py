"""Tiny pipelines of each family, of its own classes, with random weights."""

from tests import tiny
from tests.painter_families.components import (
    LANGUAGE,
    SIDE,
    autoencoder,
    clip,
    flow,
    flow_autoencoder,
    flux2_autoencoder,
    gemma2,
    mistral3,
    qwen2_vl,
    qwen2_vl_processor,
    qwen3,
    qwen3_vl,
    qwen_autoencoder,
    qwen_tokenizer,
    t5,
)
from tests.tiny import diffusers, processors, transformers


def build_sdxl():
    tokenizer, encoder = clip()
    tokenizer_2, encoder_2 = clip("CLIPTextModelWithProjection")
    return diffusers.StableDiffusionXLPipeline(
        scheduler=diffusers.EulerDiscreteScheduler(
            beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", steps_offset=1
        ),
        tokenizer=tokenizer,
        text_encoder=encoder,
        tokenizer_2=tokenizer_2,
        text_encoder_2=encoder_2,
        unet=diffusers.UNet2DConditionModel(
            sample_size=SIDE // 2,
            block_out_channels=(4, 8),
            layers_per_block=1,
            norm_num_groups=2,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            attention_head_dim=(2, 4),
            use_linear_projection=True,
            addition_embed_type="text_time",
            addition_time_embed_dim=8,
            projection_class_embeddings_input_dim=6 * 8 + 32,
            cross_attention_dim=64,
        ),
        vae=autoencoder(),
    )


def build_sd3():
    tokenizer, encoder = clip("CLIPTextModelWithProjection")
    tokenizer_2, encoder_2 = clip("CLIPTextModelWithProjection")
    tokenizer_3, encoder_3 = t5(64)
    return diffusers.StableDiffusion3Pipeline(
        scheduler=flow(shift=3.0),
        tokenizer=tokenizer,
        text_encoder=encoder,
        tokenizer_2=tokenizer_2,
        text_encoder_2=encoder_2,
        tokenizer_3=tokenizer_3,
        text_encoder_3=encoder_3,
        transformer=diffusers.SD3Transformer2DModel(
            sample_size=SIDE // 2,
            in_channels=4,
            out_channels=4,
            num_layers=2,
            attention_head_dim=8,
            num_attention_heads=2,
            caption_projection_dim=16,
            joint_attention_dim=64,
            pooled_projection_dim=64,
            qk_norm="rms_norm",
            dual_attention_layers=(0,),
        ),
        vae=flow_autoencoder(),
    )


def build_flux():
    return _build_flux(diffusers.FluxPipeline)


def build_flux_kontext():
    return _build_flux(diffusers.FluxKontextPipeline)


def _build_flux(pipeline):
    tokenizer, encoder = clip()
    tokenizer_2, encoder_2 = t5()
    return pipeline(
        scheduler=flow(),
        tokenizer=tokenizer,
        text_encoder=encoder,
        tokenizer_2=tokenizer_2,
        text_encoder_2=encoder_2,
        transformer=diffusers.FluxTransformer2DModel(
            in_channels=16,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=32,
            pooled_projection_dim=32,
            axes_dims_rope=(4, 4, 8),
            guidance_embeds=True,
        ),
        vae=flow_autoencoder(),
    )


def build_flux2_transformer(text_width, **options):
    return diffusers.Flux2Transformer2DModel(
        in_channels=8,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=text_width,
        axes_dims_rope=(4, 4, 4, 4),
        **options,
    )


def build_flux2():
    processor, encoder = mistral3()
    return diffusers.Flux2Pipeline(
        scheduler=flow(use_dynamic_shifting=True),
        tokenizer=processor,
        text_encoder=encoder,
        transformer=build_flux2_transformer(3 * 16),
        vae=flux2_autoencoder(),
    )


def build_flux2_klein():
    tokenizer, encoder = qwen3("Qwen3ForCausalLM", layers=28)
    return diffusers.Flux2KleinPipeline(
        scheduler=flow(use_dynamic_shifting=True),
        tokenizer=tokenizer,
        text_encoder=encoder,
        transformer=build_flux2_transformer(3 * 16, guidance_embeds=False),
        vae=flux2_autoencoder(),
    )


def build_z_image():
    tokenizer, encoder = qwen3("Qwen3Model")
    return diffusers.ZImagePipeline(
        scheduler=flow(shift=3.0),
        tokenizer=tokenizer,
        text_encoder=encoder,
        transformer=diffusers.ZImageTransformer2DModel(
            in_channels=4,
            dim=32,
            n_layers=1,
            n_refiner_layers=1,
            n_heads=2,
            n_kv_heads=2,
            cap_feat_dim=16,
            axes_dims=[8, 4, 4],
            axes_lens=[256, 32, 32],
        ),
        vae=flow_autoencoder(),
    )


def build_qwen_image():
    return diffusers.QwenImagePipeline(**_build_qwen_parts())


def build_qwen_image_edit():
    return _build_qwen_editor(diffusers.QwenImageEditPipeline)


def build_qwen_image_edit_plus():
    return _build_qwen_editor(diffusers.QwenImageEditPlusPipeline)


def _build_qwen_editor(pipeline):
    # It makes a picture of a million pixels of what it is shown: the more blocks, the less is left.
    parts = _build_qwen_parts() | {"vae": qwen_autoencoder(blocks=6)}
    return pipeline(**parts, processor=qwen2_vl_processor(parts["tokenizer"]))


def _build_qwen_parts():
    tokenizer, encoder = qwen2_vl()
    return {
        "scheduler": flow(use_dynamic_shifting=True),
        "tokenizer": tokenizer,
        "text_encoder": encoder,
        "transformer": diffusers.QwenImageTransformer2DModel(
            in_channels=16,
            out_channels=4,
            num_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=16,
            axes_dims_rope=(8, 4, 4),
        ),
        "vae": qwen_autoencoder(),
    }


def build_ideogram4():
    tokenizer, encoder = qwen3_vl(layers=36)

    def transformer():
        return diffusers.Ideogram4Transformer2DModel(
            in_channels=8,
            num_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            intermediate_size=32,
            adaln_dim=16,
            llm_features_dim=13 * 16,
            mrope_section=(4, 2, 2),
        )

    return diffusers.Ideogram4Pipeline(
        scheduler=flow(),
        tokenizer=tokenizer,
        text_encoder=encoder,
        transformer=transformer(),
        unconditional_transformer=transformer(),
        vae=flux2_autoencoder(),
    )


def build_sana():
    tokenizer, encoder = gemma2()
    return diffusers.SanaPipeline(
        scheduler=diffusers.DPMSolverMultistepScheduler(
            prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=3.0
        ),
        tokenizer=tokenizer,
        text_encoder=encoder,
        transformer=diffusers.SanaTransformer2DModel(
            in_channels=4,
            out_channels=4,
            num_layers=1,
            num_attention_heads=2,
            attention_head_dim=4,
            num_cross_attention_heads=2,
            cross_attention_head_dim=4,
            cross_attention_dim=8,
            caption_channels=16,
            sample_size=32,
        ),
        vae=diffusers.AutoencoderDC(
            latent_channels=4,
            attention_head_dim=2,
            encoder_block_types=("ResBlock", "EfficientViTBlock"),
            decoder_block_types=("ResBlock", "EfficientViTBlock"),
            encoder_block_out_channels=(8, 8),
            decoder_block_out_channels=(8, 8),
            encoder_qkv_multiscales=((), (5,)),
            decoder_qkv_multiscales=((), (5,)),
            encoder_layers_per_block=(1, 1),
            decoder_layers_per_block=(1, 1),
            downsample_block_type="conv",
            upsample_block_type="interpolate",
        ),
    )


def build_chroma():
    tokenizer, encoder = t5()
    return diffusers.ChromaPipeline(
        scheduler=flow(),
        tokenizer=tokenizer,
        text_encoder=encoder,
        transformer=diffusers.ChromaTransformer2DModel(
            in_channels=16,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=32,
            axes_dims_rope=(4, 4, 8),
            approximator_num_channels=8,
            approximator_hidden_dim=16,
            approximator_layers=1,
        ),
        vae=flow_autoencoder(),
    )


def build_pixart():
    tokenizer, encoder = t5()
    return diffusers.PixArtSigmaPipeline(
        scheduler=diffusers.DPMSolverMultistepScheduler(),
        tokenizer=tokenizer,
        text_encoder=encoder,
        transformer=diffusers.PixArtTransformer2DModel(
            sample_size=SIDE // 2,
            in_channels=4,
            out_channels=8,
            num_layers=1,
            num_attention_heads=2,
            attention_head_dim=8,
            cross_attention_dim=16,
            caption_channels=32,
            use_additional_conditions=False,
        ),
        vae=autoencoder(),
    )


def build_lumina2():
    tokenizer, encoder = gemma2()
    return diffusers.Lumina2Pipeline(
        scheduler=flow(),
        tokenizer=tokenizer,
        text_encoder=encoder,
        transformer=diffusers.Lumina2Transformer2DModel(
            sample_size=SIDE // 2,
            in_channels=4,
            hidden_size=32,
            num_layers=1,
            num_refiner_layers=1,
            num_attention_heads=2,
            num_kv_heads=1,
            multiple_of=2,
            axes_dim_rope=(8, 4, 4),
            axes_lens=(300, 32, 32),
            cap_feat_dim=16,
        ),
        vae=flow_autoencoder(blocks=4),
    )


def build_krea2():
    tokenizer, encoder = qwen3_vl(layers=36)
    return diffusers.Krea2Pipeline(
        scheduler=flow(use_dynamic_shifting=True),
        tokenizer=tokenizer,
        text_encoder=encoder,
        transformer=diffusers.Krea2Transformer2DModel(
            in_channels=16,
            num_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            num_key_value_heads=1,
            intermediate_size=32,
            timestep_embed_dim=16,
            text_hidden_dim=16,
            text_num_attention_heads=2,
            text_num_key_value_heads=2,
            text_intermediate_size=24,
            num_layerwise_text_blocks=1,
            num_refiner_text_blocks=1,
            axes_dims_rope=(8, 4, 4),
        ),
        vae=qwen_autoencoder(),
    )


def build_cogview4():
    words = qwen_tokenizer()
    begin = "<|im_start|>"  # As GLM's does, also where there is no other word.
    words.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A", special_tokens=[(begin, words.convert_tokens_to_ids(begin))]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words.backend_tokenizer, pad_token=words.pad_token, padding_side="left"
    )
    config = transformers.GlmConfig(
        **LANGUAGE, vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id
    )
    return diffusers.CogView4Pipeline(
        scheduler=flow(base_shift=0.25, max_shift=0.75, use_dynamic_shifting=True),
        tokenizer=tokenizer,
        text_encoder=transformers.GlmModel(config),
        transformer=diffusers.CogView4Transformer2DModel(
            in_channels=4,
            out_channels=4,
            num_layers=2,
            attention_head_dim=4,
            num_attention_heads=4,
            text_embed_dim=16,
            time_embed_dim=8,
            condition_dim=4,
        ),
        vae=flow_autoencoder(),
    )


def build_aura_flow():
    tokenizer = tiny.llama_tokenizer(tiny.WORDS)
    config = transformers.UMT5Config(
        vocab_size=len(tokenizer), d_model=32, d_kv=8, d_ff=37, num_layers=2, num_heads=4
    )
    return diffusers.AuraFlowPipeline(
        scheduler=flow(shift=1.73),
        tokenizer=tokenizer,
        text_encoder=transformers.UMT5EncoderModel(config),
        transformer=diffusers.AuraFlowTransformer2DModel(
            sample_size=16,
            num_mmdit_layers=1,
            num_single_dit_layers=1,
            attention_head_dim=8,
            num_attention_heads=4,
            joint_attention_dim=32,
            caption_projection_dim=32,
            pos_embed_max_size=256,
        ),
        vae=autoencoder(),
    )


def build_ovis():
    tokenizer, encoder = qwen3("Qwen3Model")
    return diffusers.OvisImagePipeline(
        scheduler=flow(use_dynamic_shifting=True),
        tokenizer=tokenizer,
        text_encoder=encoder,
        transformer=diffusers.OvisImageTransformer2DModel(
            in_channels=16,
            out_channels=16,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=16,
            axes_dims_rope=(4, 4, 8),
        ),
        vae=flow_autoencoder(),
    )


def build_longcat():
    tokenizer, encoder = qwen2_vl()
    return diffusers.LongCatImagePipeline(
        scheduler=flow(use_dynamic_shifting=True),
        tokenizer=tokenizer,
        text_encoder=encoder,
        text_processor=qwen2_vl_processor(tokenizer),
        transformer=diffusers.LongCatImageTransformer2DModel(
            in_channels=64,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=16,
            pooled_projection_dim=16,
            axes_dims_rope=(4, 4, 8),
        ),
        vae=flow_autoencoder(channels=16),
    )


def build_ernie():
    tokenizer = qwen_tokenizer()
    config = transformers.Mistral3Config(
        text_config=transformers.MistralConfig(**LANGUAGE, vocab_size=len(tokenizer)),
        vision_config={**LANGUAGE, "model_type": "pixtral", "num_hidden_layers": 1},
    )
    return diffusers.ErnieImagePipeline(
        scheduler=flow(shift=3.0),
        tokenizer=tokenizer,
        text_encoder=transformers.Mistral3Model(config),
        transformer=diffusers.ErnieImageTransformer2DModel(
            hidden_size=32,
            num_attention_heads=2,
            num_layers=1,
            ffn_hidden_size=32,
            in_channels=8,
            out_channels=8,
            text_in_dim=16,
            rope_axes_dim=(4, 4, 8),
        ),
        vae=flux2_autoencoder(),
    )


def build_stable_diffusion():
    return tiny.build_stable_diffusion()
